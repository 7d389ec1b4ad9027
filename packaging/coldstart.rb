# Written by `cargo xtask packaging`. The release fills in the checksums; take the file from there.
class Coldstart < Formula
  desc "Find out whether a Flux cluster comes up from nothing"
  homepage "https://github.com/coldstart-dev/coldstart"
  version "0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/coldstart-dev/coldstart/releases/download/v0.1.0/coldstart-aarch64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/coldstart-dev/coldstart/releases/download/v0.1.0/coldstart-x86_64-apple-darwin.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/coldstart-dev/coldstart/releases/download/v0.1.0/coldstart-aarch64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
    on_intel do
      url "https://github.com/coldstart-dev/coldstart/releases/download/v0.1.0/coldstart-x86_64-unknown-linux-musl.tar.gz"
      sha256 "0000000000000000000000000000000000000000000000000000000000000000"
    end
  end

  def install
    bin.install "coldstart"
    man1.install Dir["man/*"]
    bash_completion.install "completions/coldstart.bash" => "coldstart"
    zsh_completion.install "completions/_coldstart"
    fish_completion.install "completions/coldstart.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/coldstart --version")
  end
end

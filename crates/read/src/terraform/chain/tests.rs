//! Chains of runs as people write them.

use std::fs;

use source::Span;

use super::{BlockKind, Chain, WhyBlind};
use crate::repository::Repository;
use crate::terraform::chains;

struct Read {
    repository: Repository,
    chains: Vec<Chain>,
    _directory: tempfile::TempDir,
}

impl Read {
    fn of(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let repository = Repository::open(directory.path()).unwrap();
        let chains = chains(&repository);
        Self { repository, chains, _directory: directory }
    }

    /// `path:line`.
    fn at(&self, span: Span) -> String {
        let (path, position) = self.repository.locate(span).unwrap();
        format!("{path}:{}", position.line)
    }

    /// What a block waits for, a line each.
    fn waits(&self, address: &str) -> Vec<String> {
        let chain = &self.chains[0];
        let id = chain.find(address).unwrap_or_else(|| panic!("no {address}"));
        let line = |edge: &super::Edge| {
            let computed = if edge.is_computed { "!" } else { "" };
            format!("{}{computed} {:?} {}", chain.block(edge.to).address, edge.why, self.at(edge.at))
        };
        chain.waits_for(id).iter().map(line).collect()
    }
}

const ROOT: &str = r#"terraform {
  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = "~> 2.12"
    }
  }
  backend "local" {}
}
locals {
  file  = local_file.kubeconfig.filename
  nodes = { a = "192.0.2.1", b = "192.0.2.2" }
}
provider "helm" {
  alias = "east"
  kubernetes {
    config_path = local.file
  }
}
module "nodes" {
  source     = "../node"
  for_each   = local.nodes
  address    = each.value
  token      = random_password.token.result
  depends_on = [terraform_data.first]
  providers  = { helm.here = helm.east }
}
resource "random_password" "token" {}
resource "terraform_data" "first" {}
resource "local_file" "kubeconfig" {
  content  = module.nodes["a"].config
  filename = "${path.module}/kubeconfig"
}
data "http" "early" { url = local_file.kubeconfig.filename }
data "http" "late" { url = random_password.token.result }
data "http" "told" {
  url        = "https://example.org"
  depends_on = [terraform_data.first]
}
data "http" "after_late" { url = data.http.late.body }
"#;

const NODE: &str = r#"variable "address" {}
variable "token" {}
resource "helm_release" "this" {
  provider = helm.here
  name     = var.token
}
resource "talos_machine_bootstrap" "this" {
  count = 2
  node  = var.address
}
output "config" { value = talos_machine_bootstrap.this[0].id }
"#;

#[test]
fn order_is_followed_through_locals_inputs_outputs_and_calls_of_modules() {
    let read = Read::of(&[("run/main.tf", ROOT), ("node/main.tf", NODE)]);
    assert_eq!(
        read.waits("module.nodes.helm_release.this"),
        [
            "provider.helm.east Configuration run/main.tf:14",
            "random_password.token! Reference node/main.tf:5",
            "terraform_data.first ModuleDependsOn run/main.tf:25",
        ]
    );
    assert_eq!(
        read.waits("local_file.kubeconfig"),
        ["module.nodes.talos_machine_bootstrap.this! Reference run/main.tf:31"]
    );
    assert_eq!(read.waits("provider.helm.east"), ["local_file.kubeconfig Reference run/main.tf:17"]);
    let chain = &read.chains[0];
    let bootstrap = chain.block(chain.find("module.nodes.talos_machine_bootstrap.this").unwrap());
    assert_eq!((bootstrap.count, bootstrap.keys.join(" ")), (Some(4), "a/0 a/1 b/0 b/1".to_owned()));
    assert_eq!(chain.requirements["helm"].versions, ["~> 2.12"]);
    assert_eq!(chain.written[0].path, "run/kubeconfig");
    assert_eq!(chain.read[0].path, "run/kubeconfig");
}

#[test]
fn data_is_read_at_plan_unless_it_needs_what_is_made() {
    let read = Read::of(&[("run/main.tf", ROOT), ("node/main.tf", NODE)]);
    let chain = &read.chains[0];
    let data = chain.iter().filter(|(_, block)| block.kind == BlockKind::Data);
    let early: Vec<&str> = data.filter(|(id, _)| chain.is_read_at_plan(*id)).map(|(_, it)| it.name.as_str()).collect();
    // What the file is called is known before it is there.
    assert_eq!(early, ["early"]);
}

#[test]
fn what_can_not_be_read_is_told_with_its_place() {
    let main = "provider \"helm\" {}\nmodule \"far\" { source = \"git::https://example.org/x\" }\nmodule \"gone\" { source = \"./gone\" }\nmodule \"many\" {\n  source = \"../node\"\n  for_each = data.http.x.body\n  address = 1\n}\n";
    let read = Read::of(&[("run/main.tf", main), ("node/main.tf", NODE)]);
    let told: Vec<(&str, WhyBlind, String)> =
        read.chains[0].blind.iter().map(|it| (it.address.as_str(), it.why, read.at(it.at))).collect();
    assert_eq!(
        told,
        [
            ("module.far", WhyBlind::RemoteModule, "run/main.tf:2".to_owned()),
            ("module.gone", WhyBlind::MissingModule, "run/main.tf:3".to_owned()),
            ("module.many", WhyBlind::UnknownCount, "run/main.tf:4".to_owned()),
        ]
    );
    assert_eq!(read.chains[0].block(read.chains[0].find("module.many.helm_release.this").unwrap()).count, None);
}

#[test]
fn the_lines_of_a_script_are_found_where_they_are_written() {
    let main = r#"provider "helm" {}
resource "terraform_data" "one" {
  provisioner "local-exec" {
    interpreter = ["bash", "-c"]
    environment = { KUBECONFIG = "kubeconfig", TOKEN = var.token }
    command     = <<-EOF
      first ${join(" ", ["a", "b"])}
      git commit -m "one

not indented $${HOME}
" || true
      last > out/${terraform_data.x.id}.yaml
    EOF
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.id}"
  }
}
variable "token" {}
resource "terraform_data" "two" {
  provisioner "remote-exec" {
    inline = concat(["set -e"], [templatefile("${path.module}/wait.sh", { host = "api" })])
  }
}
"#;
    let script = "until curl https://${host}/readyz\ndo sleep 1; done\n";
    let read = Read::of(&[("run/main.tf", main), ("run/wait.sh", script)]);
    let chain = &read.chains[0];
    let one = &chain.block(chain.find("terraform_data.one").unwrap()).provisioners;
    let place = |script: &super::ScriptText, part: &str| {
        let start = script.text.find(part).unwrap_or_else(|| panic!("no {part} in {}", script.text));
        read.at(script.span(start..start + part.len()).unwrap())
    };
    assert!(one[0].script.text.contains("first a b\n"), "{}", one[0].script.text);
    assert_eq!(place(&one[0].script, "first"), "run/main.tf:7");
    assert_eq!(place(&one[0].script, "not indented ${HOME}"), "run/main.tf:10");
    assert_eq!(place(&one[0].script, "last"), "run/main.tf:12");
    assert_eq!((one[0].script.gaps(), one[0].interpreter.join(" ")), (1, "bash -c".to_owned()));
    assert_eq!(one[0].environment[0], ("KUBECONFIG".to_owned(), "kubeconfig".to_owned()));
    assert!(one[1].on_destroy && !one[0].on_destroy);
    let two = &chain.block(chain.find("terraform_data.two").unwrap()).provisioners[0];
    assert_eq!(two.script.text, "set -e\nuntil curl https://api/readyz\ndo sleep 1; done\n");
    assert_eq!(place(&two.script, "sleep"), "run/wait.sh:2");
    assert_eq!(two.script.files, ["run/wait.sh"]);
}

#[test]
fn json_is_read_as_hcl_is() {
    let main = r#"{
  "provider": {"helm": {}},
  "module": {"nodes": {"source": "../node", "address": "192.0.2.1", "token": "${local.x}"}},
  "locals": {"x": "${random_password.a.result}"},
  "resource": {
    "random_password": {"a": {"length": 8}},
    "terraform_data": {"b": {"depends_on": ["module.nodes"], "provisioner": [{"local-exec": {"command": "echo ${local.x}"}}]}}
  }
}"#;
    let read = Read::of(&[("run/main.tf.json", main), ("node/main.tf", NODE)]);
    let wanted = [
        "random_password.a! Reference run/main.tf.json:7",
        "module.nodes.helm_release.this DependsOn run/main.tf.json:7",
        "module.nodes.talos_machine_bootstrap.this DependsOn run/main.tf.json:7",
    ];
    assert_eq!(read.waits("terraform_data.b"), wanted);
    let chain = &read.chains[0];
    assert_eq!(chain.block(chain.find("terraform_data.b").unwrap()).provisioners[0].script.gaps(), 1);
    assert_eq!(read.waits("module.nodes.helm_release.this"), ["random_password.a! Reference node/main.tf:5"]);
}

#[test]
fn states_are_joined_by_where_they_are_kept() {
    let other = "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"one\"\n  }\n}\nresource \"terraform_data\" \"x\" {}\n";
    let main = "provider \"helm\" {}\ndata \"terraform_remote_state\" \"far\" {\n  backend = \"s3\"\n  config = { bucket = \"b\", key = \"one\", region = \"x\" }\n}\ndata \"terraform_remote_state\" \"near\" {\n  backend = \"local\"\n  config = { path = \"${path.module}/../one/terraform.tfstate\" }\n}\n";
    let read = Read::of(&[("one/main.tf", other), ("two/main.tf", main)]);
    let [one, two] = read.chains.as_slice() else { panic!("{:?}", read.chains.len()) };
    assert_eq!(two.states[0].settings, one.backend.as_ref().unwrap().settings);
    assert_eq!(two.states[1].directory.as_deref(), Some("one"));
}

#[test]
fn modules_that_call_each_other_and_locals_in_circles_come_to_an_end() {
    let a = "provider \"helm\" {}\nlocals {\n  x = local.y\n  y = [local.x, terraform_data.a.id]\n}\nresource \"terraform_data\" \"a\" { input = terraform_data.b.input }\nresource \"terraform_data\" \"b\" { input = terraform_data.a.input }\nmodule \"b\" {\n  source = \"../b\"\n  v = module.b.o\n}\n";
    let b = "variable \"v\" {}\noutput \"o\" { value = var.v }\nmodule \"a\" { source = \"../a\" }\nmodule \"c\" {\n  source = \"../b\"\n  v = 1\n}\n";
    let read = Read::of(&[
        ("a/main.tf", a),
        ("b/main.tf", b),
        ("c/main.tf", "provider \"x\" {}\nmodule \"a\" { source = \"../a\" }\n"),
    ]);
    assert!(read.chains.iter().any(|chain| chain.blind.iter().any(|blind| blind.why == WhyBlind::TooMuch)));
}

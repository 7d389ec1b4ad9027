//! Sealing with the real kubeseal, against this lab's controller.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::build::{self, Tool};
use crate::{Lab, LabError};

impl Lab {
    /// Seals a Secret, in YAML or JSON, for the sealed-secrets controller of this lab. Returns the SealedSecret in YAML.
    pub fn seal(&self, secret: &str) -> Result<String, LabError> {
        let program = build::binary(Tool::Kubeseal)?;
        let io = |step: &str| LabError::io(format!("{step} kubeseal"));
        let mut command = Command::new(program);
        command.args(["--format", "yaml", "--cert", &self.sealing_certificate_url()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(io("start"))?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(secret.as_bytes()).map_err(io("write to"))?;
        }
        let output = child.wait_with_output().map_err(io("wait for"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(LabError::Kubeseal(text(&output.stderr))) }
    }

    /// Where the controller hands out the certificate it unseals for; what kubeseal takes as `--cert`.
    pub fn sealing_certificate_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1/cert.pem", self.place.ports.sealed_secrets)
    }
}

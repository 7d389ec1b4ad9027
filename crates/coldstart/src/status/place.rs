//! Which kubeconfig: as said, or where kubectl looks.

#![expect(clippy::disallowed_methods, reason = "the door of the program: where its user keeps kubeconfigs")]

use std::env;
use std::path::PathBuf;

use observe::Target;

use super::arguments;
use crate::home;

pub(crate) fn target(said: &arguments::Target) -> Target {
    let context = said.context.clone();
    if let Some(path) = &said.kubeconfig {
        return Target { kubeconfigs: vec![path.clone()], must_be_there: true, context };
    }
    let from_variable: Vec<PathBuf> = env::var_os("KUBECONFIG")
        .map(|all| env::split_paths(&all).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    let kubeconfigs = if from_variable.is_empty() {
        home::directory().map(|home| home.join(".kube").join("config")).into_iter().collect()
    } else {
        from_variable
    };
    Target { kubeconfigs, must_be_there: false, context }
}

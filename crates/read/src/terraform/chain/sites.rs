//! The modules of a run, each by the way of calls that leads to it: what Terraform orders its work by, however many of one there are.

use std::rc::Rc;

use super::blind::{Blind, WhyBlind};
use crate::terraform::instance::Instance;
use crate::terraform::module::{Call, Module};

/// Modules of one run.
const SITES_MAX: usize = 2_000;

/// One module where it is called.
pub(super) struct Site<'w> {
    /// `module.nodes.` with its point; empty for the root.
    pub(super) prefix: String,
    pub(super) module: &'w Module,
    /// The site and the block that call it.
    pub(super) caller: Option<(usize, &'w Call)>,
    /// All there are, if that is known.
    pub(super) instances: Option<Vec<Rc<Instance<'w>>>>,
    /// One of them; where none is known, one that knows nothing of `each`.
    pub(super) sample: Rc<Instance<'w>>,
    /// Those that it calls: name and site.
    pub(super) children: Vec<(&'w str, usize)>,
}

impl Site<'_> {
    /// Whether there may be any of it.
    pub(super) fn may_exist(&self) -> bool {
        self.instances.as_ref().is_none_or(|instances| !instances.is_empty())
    }
}

pub(super) fn sites<'w>(root: &Rc<Instance<'w>>, blind: &mut Vec<Blind>) -> Vec<Site<'w>> {
    let first = Site {
        prefix: String::new(),
        module: root.module,
        caller: None,
        instances: Some(vec![Rc::clone(root)]),
        sample: Rc::clone(root),
        children: Vec::new(),
    };
    let mut all = vec![first];
    let mut next = 0;
    while next < all.len() {
        let module = all[next].module;
        for (name, call) in &module.calls {
            let address = format!("{}module.{name}", all[next].prefix);
            let mut tell = |why| blind.push(Blind { address: address.clone(), why, at: call.at });
            if all.len() >= SITES_MAX {
                tell(WhyBlind::TooMuch);
                return all;
            }
            let Some(directory) = module.local_source(&call.block) else {
                tell(WhyBlind::RemoteModule);
                continue;
            };
            let instances = instances(&all[next], name);
            let sample = instances.as_ref().and_then(|all| all.first().cloned());
            let Some(sample) = sample.or_else(|| all[next].sample.any_child(name)) else {
                let is_there = root.world().modules.contains_key(&directory);
                tell(if is_there { WhyBlind::TooMuch } else { WhyBlind::MissingModule });
                continue;
            };
            if instances.is_none() {
                tell(WhyBlind::UnknownCount);
            }
            let at = all.len();
            all[next].children.push((name, at));
            let (caller, children) = (Some((next, call)), Vec::new());
            all.push(Site {
                prefix: format!("{address}."),
                module: sample.module,
                caller,
                instances,
                sample,
                children,
            });
        }
        next += 1;
    }
    all
}

/// Those of a module that all instances of its caller call; nothing if that is not known of one of them.
fn instances<'w>(caller: &Site<'w>, name: &str) -> Option<Vec<Rc<Instance<'w>>>> {
    let mut found = Vec::new();
    for instance in caller.instances.as_ref()? {
        found.extend(instance.children(name)?.iter().cloned());
    }
    Some(found)
}

/// A site and all below it.
pub(super) fn subtree(sites: &[Site<'_>], from: usize) -> Vec<usize> {
    let mut all = vec![from];
    let mut next = 0;
    while let Some(site) = all.get(next) {
        all.extend(sites[*site].children.iter().map(|(_, child)| *child));
        next += 1;
    }
    all
}

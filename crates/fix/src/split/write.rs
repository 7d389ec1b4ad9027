//! A plan becomes edits of files.

use std::collections::BTreeSet;

use diagnostic::{Unedited, Unsplit, WhyLeft};
use model::{Cluster, ComponentId, ObjectRef, TieTarget};
use source::Span;

use super::document::{Awaited, CHECKS, document, for_editors, is_of};
use super::held::{Entry, Held};
use super::kustomization::kustomization;
use super::plan::{How, Plan, file_name};
use crate::text::{Text, find};
use crate::write::{Writer, remove_item};

/// Writes it; nothing where another job did so before.
pub(crate) fn write(writer: &mut Writer<'_, '_>, of: ComponentId, plan: &Plan) -> Result<(), WhyLeft> {
    let own = writer.cluster.component(of).clone();
    let unsplit = |how| WhyLeft::Unsplit { component: own.object.clone(), how };
    let key = (own.at.file, own.at.start);
    match writer.files.splits.get(&key) {
        Some(known) if known == plan => return Ok(()),
        Some(_) => return Err(unsplit(Unsplit::Taken { name: plan.new.path() })),
        None => writer.files.splits.insert(key, plan.clone()),
    };
    match &plan.how {
        How::Unlist(entry) => unlist(writer, entry.at)?,
        How::Move { files, unlisted, emptied } => {
            move_all(writer, plan, files).map_err(unsplit)?;
            unlisted.iter().try_for_each(|entry| unlist(writer, entry.at))?;
            for file in emptied {
                writer.files.remove(*file);
            }
            if let Some(held) = files.iter().find(|held| !held.entries.is_empty()) {
                list_new(writer, plan, files, held)?;
            }
        }
    }
    let unedited = |how| WhyLeft::Unedited { at: own.at, how };
    add_document(writer, of, plan).map_err(unedited)?;
    uncheck(writer, own.at, plan).map_err(unedited)
}

/// What is gone was taken away for another.
fn unlist(writer: &mut Writer<'_, '_>, at: Span) -> Result<(), WhyLeft> {
    let is_gone = writer.files.open(at).is_ok_and(|text| text.here(at).is_none());
    if is_gone { Ok(()) } else { writer.at_place(at, remove_item) }
}

fn move_all(writer: &mut Writer<'_, '_>, plan: &Plan, files: &[Held]) -> Result<(), Unsplit> {
    for held in files {
        let to = format!("{}/{}", plan.directory, file_name(&held.path));
        if !writer.files.rename(held.file, &to) {
            return Err(Unsplit::Taken { name: to });
        }
    }
    Ok(())
}

/// The kustomization of the new directory, like those that a file was listed by.
fn list_new(writer: &mut Writer<'_, '_>, plan: &Plan, files: &[Held], like: &Held) -> Result<(), WhyLeft> {
    let repository = writer.files.repository;
    let text = |entry: &Entry| Some(Text::new(entry.by, repository.source(entry.by)?.text().to_owned()));
    let mut above: Vec<Text> = like.entries.iter().filter_map(text).collect();
    let at = Span::new(like.entries.last().map_or(like.file, |entry| entry.by), 0, 0);
    let unedited = |how| WhyLeft::Unedited { at, how };
    let like = above.pop().ok_or(unedited(Unedited::Unexpected))?;
    let names: Vec<&str> = files.iter().map(|held| file_name(&held.path)).collect();
    let text = kustomization(&like, &above, writer.files.house, &names, plan.namespace.as_deref()).map_err(unedited)?;
    let path = format!("{}/kustomization.yaml", plan.directory);
    if writer.files.create(&path, text) { Ok(()) } else { Err(unedited(Unedited::Unexpected)) }
}

/// The new Kustomization, in the file of the one that it comes from and behind it.
fn add_document(writer: &mut Writer<'_, '_>, of: ComponentId, plan: &Plan) -> Result<(), Unedited> {
    let (own, on) = (writer.cluster.component(of).clone(), &plan.on);
    let house = writer.files.house;
    let source = writer.files.repository.source(own.at.file).ok_or(Unedited::Unexpected)?;
    let before = Text::new(own.at.file, source.text().to_owned());
    let is_own = |root: &&yaml::Node| root.at(&["metadata", "name"]).is_some_and(|name| name.span == own.at);
    let root = before.roots().find(is_own).ok_or(Unedited::Unexpected)?;
    let is_named = on.namespace != own.object.namespace || house.names_namespaces();
    let target = |item: &yaml::Node| dependency(writer.cluster, &own.object, item);
    let implied = writer.cluster.find(on).map(|on| behind(writer.cluster, on)).unwrap_or_default();
    let is_implied = |item: &yaml::Node| target(item).is_some_and(|id| implied.contains(&id));
    let kept = root.at(&["spec", "dependsOn"]).and_then(yaml::Node::as_seq).unwrap_or_default().iter();
    let mut kept = kept.filter_map(target).filter(|id| !implied.contains(id));
    let reaches = |id| behind(writer.cluster, id).iter().any(|it| writer.cluster.component(*it).object == *on);
    let is_needed = !kept.any(reaches);
    let namespace = is_named.then_some(on.namespace.as_str());
    let awaited = Awaited { name: &on.name, namespace, is_needed, is_implied: &is_implied };
    let document = document(&before, root, house, plan, &awaited)?;
    let head = for_editors(before.text(), root.span).map(|line| format!("{line}\n")).unwrap_or_default();
    let text = writer.files.open(own.at)?;
    let here = text.here(own.at).ok_or(Unedited::Unexpected)?;
    text.new_document(here, &format!("{head}{document}"))
}

/// What an item of the `dependsOn` of a Kustomization names.
fn dependency(cluster: &Cluster, own: &ObjectRef, item: &yaml::Node) -> Option<ComponentId> {
    let namespace = item.text_at(&["namespace"]).unwrap_or(&own.namespace);
    cluster.find(&ObjectRef::new(own.kind.clone(), namespace, item.text_at(&["name"])?))
}

/// What comes before whatever waits for a component: that, and all that it waits for itself.
fn behind(cluster: &Cluster, on: ComponentId) -> BTreeSet<ComponentId> {
    let mut behind = BTreeSet::new();
    let mut open = vec![on];
    while let Some(one) = open.pop() {
        if behind.insert(one) {
            let own = cluster.ties.iter().filter(|tie| tie.from == one);
            open.extend(own.filter_map(|tie| match tie.to {
                TieTarget::Component(to) => Some(to),
                TieTarget::Unknown(_) => None,
            }));
        }
    }
    behind
}

/// The health checks of what moves go from where they were.
fn uncheck(writer: &mut Writer<'_, '_>, at: Span, plan: &Plan) -> Result<(), Unedited> {
    let text = writer.files.open(at)?;
    let here = text.here(at).ok_or(Unedited::Unexpected)?;
    let document = text.roots().position(|root| !find(root, here).is_empty()).ok_or(Unedited::Unexpected)?;
    CHECKS.iter().try_for_each(|list| text.retain_items(document, list, |item| !is_of(item, &plan.kinds)))
}

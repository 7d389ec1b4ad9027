//! `images`: other names, tags or digests for the images of containers, wherever in an object containers are.

use regex::Regex;
use source::Span;
use yaml::{Cost, Node, Value};

use crate::builder::Builder;
use crate::error::LimitError;
use crate::expression::{self, ExpressionError};
use crate::fieldspec::{Create, FieldSpec};
use crate::resources::Resources;

/// An item of `images`.
struct Image<'a> {
    name: Regex,
    new_name: Option<&'a str>,
    new_tag: Option<&'a str>,
    digest: Option<&'a str>,
    tag_suffix: Option<&'a str>,
    /// The line that says what is new.
    span: Span,
}

impl<'a> Image<'a> {
    fn read(item: &'a Node) -> Result<Self, ExpressionError> {
        let text = |key: &str| item.text_at(&[key]).filter(|text| !text.is_empty());
        let name = text("name").unwrap_or_default();
        let tag = "(:[a-zA-Z0-9_.{}-]*)?";
        let digest = "(@[a-zA-Z0-9]+([.+_-][a-zA-Z0-9]+)*:[a-zA-Z0-9_.{}-]*)?";
        let newest = ["newTag", "digest", "newName", "tagSuffix"].into_iter().find_map(|key| item.get(key));
        Ok(Self {
            name: expression::compile(&format!("^{name}{tag}{digest}$"))?,
            new_name: text("newName"),
            new_tag: text("newTag"),
            digest: text("digest"),
            tag_suffix: text("tagSuffix"),
            span: newest.map_or(item.span, |node| node.span),
        })
    }

    fn matches(&self, node: &Node) -> bool {
        node.text().is_some_and(|text| self.name.is_match(text))
    }

    fn update(&self, node: &mut Node) {
        let Some(text) = node.text().filter(|text| self.name.is_match(text)) else { return };
        let (name, tag, digest) = split(text);
        let mut image = self.new_name.unwrap_or(name).to_owned();
        let tag = tag.to_owned();
        let (tag, digest) = match (self.new_tag, self.digest, self.tag_suffix) {
            (Some(new_tag), digest, _) => (new_tag.to_owned(), digest.unwrap_or_default()),
            (None, Some(digest), _) => (String::new(), digest),
            (None, None, Some(suffix)) => (tag + suffix, ""),
            (None, None, None) => (tag, digest),
        };
        if !tag.is_empty() {
            image.push(':');
            image.push_str(&tag);
        }
        if !digest.is_empty() {
            image.push('@');
            image.push_str(digest);
        }
        *node = Node::string(image, self.span);
    }
}

impl Builder<'_> {
    pub(crate) fn set_image(&mut self, resources: &mut Resources, item: &Node, specs: &[FieldSpec]) {
        let compiled = expression::cost(item.text_at(&["name"]).unwrap_or_default());
        if !self.affords(compiled, item.span) || !self.affords_specs(specs, resources, item.span) {
            return;
        }
        let image = match Image::read(item) {
            Ok(image) => image,
            // A name that is no pattern matches nothing.
            Err(ExpressionError::Invalid) => return,
            Err(ExpressionError::TooLarge) => return self.exhaust(LimitError::Expression, item.span),
        };
        for at in 0..resources.len() {
            let resource = resources.content_mut(at);
            if resource.gvk.kind == "CustomResourceDefinition" {
                continue;
            }
            let mut looked_at = 0;
            let is_there = in_containers(&resource.node, &image, &mut looked_at);
            if !self.affords(Cost::seen(looked_at), item.span) {
                return;
            }
            if is_there {
                update_containers(&mut resource.node, &image);
            }
            for spec in specs {
                if !spec.any(&resource.node, &mut |node| image.matches(node)) {
                    continue;
                }
                let update = &mut |node: &mut Node| {
                    image.update(node);
                    Ok(())
                };
                if let Err(error) = spec.apply(&resource.gvk, &mut resource.node, Create::Nothing, image.span, update) {
                    self.fail(error, image.span);
                }
            }
        }
    }
}

fn is_container_list(key: &str) -> bool {
    matches!(key, "containers" | "initContainers")
}

fn in_containers(node: &Node, image: &Image<'_>, looked_at: &mut usize) -> bool {
    *looked_at += 1;
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| {
            let items = if is_container_list(&entry.key) { entry.value.as_seq().unwrap_or_default() } else { &[] };
            items.iter().any(|item| item.get("image").is_some_and(|node| image.matches(node)))
                || in_containers(&entry.value, image, looked_at)
        }),
        Value::Seq(items) => items.iter().any(|item| in_containers(item, image, looked_at)),
        Value::Scalar(_) => false,
    }
}

fn update_containers(node: &mut Node, image: &Image<'_>) {
    match &mut node.value {
        Value::Map(map) => {
            for entry in map.iter_mut() {
                update_containers(&mut entry.value, image);
                if is_container_list(&entry.key)
                    && let Value::Seq(items) = &mut entry.value.value
                {
                    items.make_mut().iter_mut().filter_map(|item| item.get_mut("image")).for_each(|n| image.update(n));
                }
            }
        }
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| update_containers(item, image)),
        Value::Scalar(_) => {}
    }
}

/// Name, tag and digest; a port in the registry's name is no tag.
fn split(image: &str) -> (&str, &str, &str) {
    let path = image.find('/').filter(|at| *at > 0).unwrap_or(0);
    let at = image[path..].find('@').map(|at| at + path);
    let colon = image[path..].find(':').map(|colon| colon + path);
    match (colon, at) {
        (None, None) => (image, "", ""),
        (colon, Some(at)) if colon.is_none_or(|colon| at < colon) => (&image[..at], "", &image[at + 1..]),
        (Some(colon), Some(at)) => (&image[..colon], &image[colon + 1..at], &image[at + 1..]),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
        (None, Some(at)) => (&image[..at], "", &image[at + 1..]),
    }
}

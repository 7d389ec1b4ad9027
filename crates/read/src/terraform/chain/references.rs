//! The names that expressions refer to, with their places.

use std::ops::Range;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ForExpr, ObjectKey, Traversal, TraversalOperator};
use hcl_edit::structure::{Attribute, Block, Body};
use hcl_edit::template::ForDirective;
use hcl_edit::visit::{self, Visit};

/// What one traversal names.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// `var`, `module`, the type of a resource.
    pub(super) root: String,
    /// The attributes that follow, indices and splats left out.
    pub(super) attributes: Vec<String>,
    /// Where it is in its file.
    pub(super) range: Option<Range<usize>>,
}

/// What is about a block and not of it.
const SKIPPED: [&str; 3] = ["depends_on", "provider", "providers"];

/// All that a body refers to but by `depends_on` and provider.
pub(super) fn of_body(body: &Body) -> Vec<Reference> {
    let mut found = Finder::default();
    for structure in body {
        match structure {
            hcl_edit::structure::Structure::Attribute(attribute) if SKIPPED.contains(&attribute.key.as_str()) => {}
            other => found.visit_structure(other),
        }
    }
    found.references
}

pub(super) fn of_expression(expression: &Expression) -> Vec<Reference> {
    let mut found = Finder::default();
    found.visit_expr(expression);
    found.references
}

#[derive(Default)]
struct Finder {
    references: Vec<Reference>,
    /// Names that a `for` binds.
    bound: Vec<String>,
}

impl Finder {
    fn binding(&mut self, names: &[Option<String>], inside: impl FnOnce(&mut Self)) {
        let before = self.bound.len();
        self.bound.extend(names.iter().flatten().cloned());
        inside(self);
        self.bound.truncate(before);
    }
}

impl Visit for Finder {
    fn visit_attr(&mut self, node: &Attribute) {
        // Its items are names of arguments.
        if node.key.as_str() != "ignore_changes" {
            visit::visit_attr(self, node);
        }
    }

    fn visit_block(&mut self, node: &Block) {
        let is_destroy = |attribute: &Attribute| {
            attribute.key.as_str() == "when"
                && attribute.value.as_variable().is_some_and(|when| when.as_str() == "destroy")
        };
        // It may refer to nothing but its own resource.
        if node.ident.as_str() == "provisioner" && node.body.attributes().any(is_destroy) {
            return;
        }
        visit::visit_block(self, node);
    }

    fn visit_object_key(&mut self, node: &ObjectKey) {
        if let ObjectKey::Expression(key) = node
            && !matches!(key, Expression::Variable(_))
        {
            self.visit_expr(key);
        }
    }

    fn visit_traversal(&mut self, node: &Traversal) {
        if let Expression::Variable(name) = &node.expr
            && !self.bound.iter().any(|bound| bound == name.as_str())
        {
            let attribute = |operator: &TraversalOperator| match operator {
                TraversalOperator::GetAttr(name) => Some(name.as_str().to_owned()),
                _ => None,
            };
            let attributes = node.operators.iter().filter_map(|operator| attribute(operator)).take(5).collect();
            self.references.push(Reference { root: name.as_str().to_owned(), attributes, range: node.span() });
        }
        visit::visit_traversal(self, node);
    }

    fn visit_for_expr(&mut self, node: &ForExpr) {
        self.visit_expr(&node.intro.collection_expr);
        let names = [node.intro.key_var.as_ref().map(ToString::to_string), Some(node.intro.value_var.to_string())];
        self.binding(&names, |inside| {
            node.key_expr.iter().for_each(|key| inside.visit_expr(key));
            inside.visit_expr(&node.value_expr);
            node.cond.iter().for_each(|condition| inside.visit_expr(&condition.expr));
        });
    }

    fn visit_for_directive(&mut self, node: &ForDirective) {
        self.visit_expr(&node.for_expr.collection_expr);
        let names =
            [node.for_expr.key_var.as_ref().map(ToString::to_string), Some(node.for_expr.value_var.to_string())];
        self.binding(&names, |inside| inside.visit_template(&node.for_expr.template));
    }
}

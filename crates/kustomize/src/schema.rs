//! The fields that a kustomization may have and what goes into them, for saying what the real tool would refuse.
//!
//! kustomize reads the file strictly: an unknown field or a number where a text belongs ends the build.

use source::Span;
use yaml::{Node, ScalarKind, Value};

use crate::style::old_bool;
use crate::{BuildError, Failure, WantedType};

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Text,
    Bool,
    Int,
    /// Texts by text.
    Texts,
    Any,
    List(&'static Type),
    Fields(&'static [(&'static str, Type)]),
}

const TEXT_LIST: Type = Type::List(&Type::Text);

const SELECTOR: Type = Type::Fields(&[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("annotationSelector", Type::Text),
    ("labelSelector", Type::Text),
]);

const FIELD_SPEC: Type = Type::Fields(&[
    ("group", Type::Text),
    ("version", Type::Text),
    ("kind", Type::Text),
    ("path", Type::Text),
    ("create", Type::Bool),
]);

const GENERATOR_OPTIONS: Type = Type::Fields(&[
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("disableNameSuffixHash", Type::Bool),
    ("immutable", Type::Bool),
]);

const CONFIG_MAP: Type = Type::Fields(&[
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("behavior", Type::Text),
    ("literals", TEXT_LIST),
    ("files", TEXT_LIST),
    ("envs", TEXT_LIST),
    ("env", Type::Text),
    ("options", GENERATOR_OPTIONS),
]);

const SECRET: Type = Type::Fields(&[
    ("namespace", Type::Text),
    ("name", Type::Text),
    ("behavior", Type::Text),
    ("literals", TEXT_LIST),
    ("files", TEXT_LIST),
    ("envs", TEXT_LIST),
    ("env", Type::Text),
    ("options", GENERATOR_OPTIONS),
    ("type", Type::Text),
]);

const PATCH: Type = Type::Fields(&[
    ("path", Type::Text),
    ("patch", Type::Text),
    ("target", SELECTOR),
    ("options", Type::Fields(&[("allowNameChange", Type::Bool), ("allowKindChange", Type::Bool)])),
]);

const FIELD_OPTIONS: Type =
    Type::Fields(&[("delimiter", Type::Text), ("index", Type::Int), ("encoding", Type::Text), ("create", Type::Bool)]);

const REPLACEMENT: Type = Type::Fields(&[
    ("path", Type::Text),
    ("sourceValue", Type::Text),
    (
        "source",
        Type::Fields(&[
            ("group", Type::Text),
            ("version", Type::Text),
            ("kind", Type::Text),
            ("name", Type::Text),
            ("namespace", Type::Text),
            ("fieldPath", Type::Text),
            ("options", FIELD_OPTIONS),
        ]),
    ),
    (
        "targets",
        Type::List(&Type::Fields(&[
            ("select", SELECTOR),
            ("reject", Type::List(&SELECTOR)),
            ("fieldPaths", TEXT_LIST),
            ("options", FIELD_OPTIONS),
        ])),
    ),
]);

const LABEL: Type = Type::Fields(&[
    ("pairs", Type::Texts),
    ("includeSelectors", Type::Bool),
    ("includeTemplates", Type::Bool),
    ("includeVolumeClaimTemplates", Type::Bool),
    ("fields", Type::List(&FIELD_SPEC)),
]);

const IMAGE: Type = Type::Fields(&[
    ("name", Type::Text),
    ("newName", Type::Text),
    ("tagSuffix", Type::Text),
    ("newTag", Type::Text),
    ("digest", Type::Text),
]);

const SORT_OPTIONS: Type = Type::Fields(&[
    ("order", Type::Text),
    ("legacySortOptions", Type::Fields(&[("orderFirst", TEXT_LIST), ("orderLast", TEXT_LIST)])),
]);

const METADATA: Type = Type::Fields(&[
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
]);

/// The fields of the file.
pub(crate) const FIELDS: &[(&str, Type)] = &[
    ("apiVersion", Type::Text),
    ("kind", Type::Text),
    ("metadata", METADATA),
    ("openapi", Type::Texts),
    ("namePrefix", Type::Text),
    ("nameSuffix", Type::Text),
    ("namespace", Type::Text),
    ("commonLabels", Type::Texts),
    ("labels", Type::List(&LABEL)),
    ("commonAnnotations", Type::Texts),
    ("patchesStrategicMerge", TEXT_LIST),
    ("patchesJson6902", Type::List(&PATCH)),
    ("patches", Type::List(&PATCH)),
    ("images", Type::List(&IMAGE)),
    ("imageTags", Type::List(&IMAGE)),
    ("replacements", Type::List(&REPLACEMENT)),
    ("replicas", Type::List(&Type::Fields(&[("name", Type::Text), ("count", Type::Int)]))),
    ("vars", Type::List(&Type::Any)),
    ("sortOptions", SORT_OPTIONS),
    ("resources", TEXT_LIST),
    ("components", TEXT_LIST),
    ("crds", TEXT_LIST),
    ("bases", TEXT_LIST),
    ("configMapGenerator", Type::List(&CONFIG_MAP)),
    ("secretGenerator", Type::List(&SECRET)),
    ("helmGlobals", Type::Any),
    ("helmCharts", Type::List(&Type::Any)),
    ("helmChartInflationGenerator", Type::List(&Type::Any)),
    ("generatorOptions", GENERATOR_OPTIONS),
    ("configurations", TEXT_LIST),
    ("generators", TEXT_LIST),
    ("transformers", TEXT_LIST),
    ("validators", TEXT_LIST),
    ("buildMetadata", TEXT_LIST),
];

const FIELD_SPECS: Type = Type::List(&FIELD_SPEC);

const BACK_REFERENCE: Type =
    Type::Fields(&[("group", Type::Text), ("version", Type::Text), ("kind", Type::Text), ("fieldSpecs", FIELD_SPECS)]);

/// The fields of a file of `configurations`.
const CONFIGURATION: Type = Type::Fields(&[
    ("namePrefix", FIELD_SPECS),
    ("nameSuffix", FIELD_SPECS),
    ("namespace", FIELD_SPECS),
    ("commonLabels", FIELD_SPECS),
    ("labels", FIELD_SPECS),
    ("templateLabels", FIELD_SPECS),
    ("volumeClaimTemplateLabels", FIELD_SPECS),
    ("commonAnnotations", FIELD_SPECS),
    ("nameReference", Type::List(&BACK_REFERENCE)),
    ("varReference", FIELD_SPECS),
    ("images", FIELD_SPECS),
    ("replicas", FIELD_SPECS),
]);

/// Adds a failure for every field that the real tool would refuse.
pub(crate) fn check(root: &Node, failures: &mut Vec<Failure>) {
    Check { failures }.value("kustomization", root, root.span, &Type::Fields(FIELDS));
}

/// The same for a file of `configurations`.
pub(crate) fn check_configuration(root: &Node, failures: &mut Vec<Failure>) {
    Check { failures }.value("configuration", root, root.span, &CONFIGURATION);
}

struct Check<'a> {
    failures: &'a mut Vec<Failure>,
}

impl Check<'_> {
    fn value(&mut self, name: &str, node: &Node, span: Span, kind: &Type) {
        if node.is_null() {
            return;
        }
        match (kind, &node.value) {
            (Type::Any, _) => {}
            // The reader of this one file is of YAML 1.1.
            (Type::Text, Value::Scalar(scalar)) if scalar.kind == ScalarKind::Str && old_bool(node).is_none() => {}
            (Type::Bool, Value::Scalar(scalar)) if scalar.kind == ScalarKind::Bool || old_bool(node).is_some() => {}
            (Type::Int, Value::Scalar(scalar)) if scalar.kind == ScalarKind::Int => {}
            (Type::Texts, Value::Map(map)) => {
                map.iter().for_each(|entry| self.value(&entry.key, &entry.value, entry.value.span, &Type::Text));
            }
            (Type::List(inner), Value::Seq(items)) => {
                items.iter().for_each(|item| self.value(name, item, item.span, inner));
            }
            (Type::Fields(fields), Value::Map(map)) => {
                for entry in map {
                    let known = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(&entry.key));
                    if let Some((field, kind)) = known {
                        self.value(field, &entry.value, entry.value.span, kind);
                    } else {
                        let (field, of) = (entry.key.to_string(), name.to_owned());
                        self.fail(BuildError::UnknownField { field, of }, entry.key_span);
                    }
                }
            }
            _ => self.fail(BuildError::WrongType { field: name.to_owned(), wanted: wanted(kind) }, span),
        }
    }

    fn fail(&mut self, error: BuildError, span: Span) {
        self.failures.push(Failure { error, span });
    }
}

fn wanted(kind: &Type) -> WantedType {
    match kind {
        Type::Text => WantedType::Text,
        Type::Bool => WantedType::Bool,
        Type::Int => WantedType::Int,
        Type::Texts => WantedType::Texts,
        Type::Any => WantedType::Any,
        Type::List(_) => WantedType::List,
        Type::Fields(_) => WantedType::Mapping,
    }
}

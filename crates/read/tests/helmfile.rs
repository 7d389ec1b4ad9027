//! Helmfiles: which releases they have, how scripts call them, and what of them is not read.

mod tree;

use coldstart_read::helmfile::{Helmfile, Hooked, Release, read};
use model::{Unseen, WhyUnseen};
use tree::{APPS, bootstrap, repository};

fn release<'all>(helmfiles: &'all [Helmfile], name: &str) -> &'all Release {
    helmfiles.iter().flat_map(|helmfile| &helmfile.releases).find(|release| release.name == name).expect(name)
}

#[test]
fn a_helmfile_is_read_with_its_templates_in_it() {
    let (_root, repository) = repository(&[
        ("bootstrap/helmfile.d/01-apps.yaml", APPS),
        ("bootstrap/helmfile.d/values/net.yaml", "a: 1\n"),
        ("apps/kube-system/net/pool.yaml", "apiVersion: net/v1\nkind: Pool\nmetadata: {name: p}\n"),
        ("other/list.yaml", "releases:\n  - {name: no, chart: helmfile}\n"),
    ]);
    let helmfiles = read(&repository);
    assert_eq!(helmfiles.len(), 1);
    let net = release(&helmfiles, "net");
    assert_eq!((net.namespace.as_str(), net.chart_name.as_str()), ("kube-system", "net-plugin"));
    assert_eq!((net.version.as_deref(), net.wait), (Some("1.2.3"), Some(true)));
    assert_eq!(net.values_files, ["bootstrap/helmfile.d/values/net.yaml"]);
    assert_eq!(net.inline_values.len(), 1);
    assert_eq!(net.applies, [Hooked { path: "apps/kube-system/net/pool.yaml".to_owned(), is_after: true }]);
    let dns = release(&helmfiles, "dns");
    assert_eq!((dns.chart.as_deref(), dns.chart_name.as_str()), (Some("hub/dns"), "dns"));
    assert_eq!((dns.version.as_deref(), dns.wait), (None, Some(false)));
    assert!(!dns.only_crds);
}

#[test]
fn places_are_those_of_the_file_as_it_is_written() {
    let (_root, repository) = repository(&[("helmfile.yaml.gotmpl", APPS)]);
    let helmfiles = read(&repository);
    let text = |span: source::Span| &APPS[span.start as usize..span.end as usize];
    let dns = release(&helmfiles, "dns");
    assert_eq!((text(dns.span), text(dns.needs[0].1)), ("dns", "kube-system/net"));
    assert_eq!(dns.needs[0].0, "kube-system/net");
}

#[test]
fn an_action_after_a_dash_or_inside_of_quotes_leaves_the_rest_readable() {
    let text = "releases:\n  - name: a\n    chart: '{{ .Values.repo }}/a'\n    values:\n      - {{- if env \"X\" }}\n        cidr: {{ env \"X\" | quote }}\n        {{- end }}\n    version: 1 # {{ not closed\n  - name: {{ .Values.name }}\n    chart: x/b\n";
    let (_root, repository) = repository(&[("helmfile.yaml", text)]);
    let helmfiles = read(&repository);
    assert_eq!(helmfiles[0].releases.len(), 1, "a release without a known name is none");
    let a = release(&helmfiles, "a");
    assert_eq!((a.chart.as_deref(), a.chart_name.as_str()), (None, "a"));
    assert_eq!(a.inline_values.len(), 1);
}

#[test]
fn what_is_inherited_counts_and_the_chart_may_be_the_one_of_flux() {
    let (_root, repository) = repository(&[
        (
            "bootstrap/helmfile/base.yaml",
            "templates:\n  default:\n    chart: '{{ (fromYaml (readFile \"x\")).chart }}'\n    wait: true\n    values: [./v.yaml.gotmpl]\n  quick:\n    wait: false\n    namespace: fast\n",
        ),
        (
            "bootstrap/helmfile/apps.yaml",
            "bases: [base.yaml]\ndefaultInherit: default\nreleases:\n  - {name: certs, namespace: certs}\n  - name: swift\n    inherit: [{template: quick}]\n    chart: ./local/swift/\n",
        ),
        (
            "apps/certs/certs/app/ocirepository.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: certs}\nspec: {url: 'oci://registry.example.org/cert-manager', ref: {tag: v1}}\n",
        ),
        (
            "old/certs.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: certs}\nspec: {url: 'oci://registry.example.org/old'}\n",
        ),
    ]);
    let helmfiles = read(&repository);
    assert_eq!(
        helmfiles.iter().map(|helmfile| helmfile.path.as_str()).collect::<Vec<_>>(),
        ["bootstrap/helmfile/apps.yaml"]
    );
    let certs = release(&helmfiles, "certs");
    assert_eq!(
        (certs.chart_name.as_str(), certs.version.as_deref(), certs.wait),
        ("cert-manager", Some("v1"), Some(true))
    );
    assert_eq!(certs.values_files, ["./v.yaml.gotmpl"]);
    let swift = release(&helmfiles, "swift");
    assert_eq!((swift.namespace.as_str(), swift.chart_name.as_str(), swift.wait), ("fast", "swift", Some(false)));
}

fn names(files: &[(&str, &str)]) -> Vec<String> {
    let (_root, repository) = repository(files);
    let releases = read(&repository).into_iter().flat_map(|helmfile| helmfile.releases);
    releases.map(|release| release.name.to_string()).collect()
}

#[test]
fn a_release_that_is_not_installed_is_none() {
    let text = "templates:\n  off: {installed: false}\nreleases:\n  - {name: on, chart: hub/a}\n  - {name: off, chart: hub/b, installed: false}\n  - {name: inherits, chart: hub/c, inherit: [{template: off}]}\n  - {name: overrides, chart: hub/d, installed: true, inherit: [{template: off}]}\n";
    assert_eq!(names(&[("helmfile.yaml", text)]), ["on", "overrides"]);
}

#[test]
fn a_release_that_a_template_switches_off_counts() {
    let text = "releases:\n  - name: a\n    chart: hub/a\n    installed: {{ .Values.a }}\n  - name: b\n    chart: hub/b\n    {{- if env \"SMALL\" }}\n    installed: false\n    {{- end }}\n  - name: c\n    chart: hub/c\n    {{- if env \"SMALL\" }}\n    wait: true\n    {{- end }}\n    installed: false\n";
    assert_eq!(names(&[("helmfile.yaml", text)]), ["a", "b"]);
}

#[test]
fn a_condition_switches_off_where_every_environment_says_so() {
    let releases = "---\nreleases:\n  - {name: never, chart: hub/a, condition: never.enabled}\n  - {name: small, chart: hub/b, condition: small.enabled}\n  - {name: other, chart: hub/c, condition: other.enabled}\n  - {name: literal, chart: hub/d, condition: false}\n";
    let environments = "environments:\n  one:\n    values: [{never: {enabled: false}, small: {enabled: true}}]\n  two:\n    values: [two.yaml]\n";
    let two = ("two.yaml", "never: {size: 1}\nsmall: {enabled: false}\n");
    let helmfile = format!("{environments}{releases}");
    assert_eq!(names(&[("helmfile.yaml", &helmfile), two]), ["small", "other"]);
    let in_base = format!("bases: [environments.yaml]\n{releases}");
    assert_eq!(names(&[("helmfile.yaml", &in_base), ("environments.yaml", environments), two]), ["small", "other"]);
    assert_eq!(names(&[("helmfile.yaml", &helmfile)]), ["never", "small", "other"], "one file is not in Git");
    let script = ("setup.sh", "helmfile -f helmfile.yaml --state-values-set never.enabled=true sync\n");
    assert_eq!(names(&[("helmfile.yaml", &helmfile), two, script]), ["never", "small", "other"]);
    let templated = "never: {enabled: {{ env \"NEVER\" }} }\n";
    assert_eq!(names(&[("helmfile.yaml", &helmfile), ("two.yaml", templated)]), ["never", "small", "other"]);
}

const TIERS: &str = "releases:\n  - {name: net, namespace: system, chart: hub/net, labels: {tier: early}}\n  - {name: certs, namespace: certs, chart: hub/cert-manager, labels: {tier: early, slow: yes}, needs: [system/net]}\n  - {name: web, namespace: web, chart: hub/web, labels: {tier: late}, needs: [certs/certs]}\n";

fn chosen(script: &str) -> Vec<String> {
    names(&[("bootstrap/helmfile.yaml", TIERS), ("scripts/setup.sh", script)])
}

#[test]
fn only_what_the_selectors_of_a_call_mean_is_installed() {
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml --selector tier=early sync\n"), ["net", "certs"]);
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -l tier=early,slow!=yes apply\n"), ["net"]);
    assert_eq!(
        chosen("helmfile -f bootstrap/helmfile.yaml sync -l name=net --selector=namespace=web\n"),
        ["net", "web"]
    );
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -lchart=cert-manager sync\n"), ["certs"]);
    assert_eq!(chosen("helmfile -l tier=late sync\n"), ["web"], "there is one that is run without its name");
    let tier = "TIER=late\nhelmfile -f bootstrap/helmfile.yaml -l \"tier=${TIER}\" sync\n";
    assert_eq!(chosen(tier), ["web"]);
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -l name=certs sync --include-needs\n"), ["net", "certs"]);
}

#[test]
fn several_calls_install_what_any_of_them_means() {
    let early = "helmfile -f bootstrap/helmfile.yaml -l name=net sync\n";
    assert_eq!(chosen(&format!("{early}helmfile --file bootstrap -l name=web sync\n")), ["net", "web"]);
    assert_eq!(chosen(&format!("{early}helmfile -f bootstrap/helmfile.yaml apply\n")), ["net", "certs", "web"]);
    assert_eq!(chosen(&format!("{early}helmfile -f $WHICH/x.yaml sync\n")), ["net", "certs", "web"]);
    assert_eq!(
        chosen(&format!("{early}helmfile -f bootstrap/helmfile.yaml -l tier=late diff\n")),
        ["net", "certs", "web"],
        "one release by its name is mended, not brought up"
    );
}

#[test]
fn a_selector_that_can_not_be_known_means_everything() {
    let all = ["net", "certs", "web"];
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -l name=$1 sync\n"), all);
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -l tier=early sync \"$@\"\n"), all);
    assert_eq!(chosen("helmfile -f bootstrap/helmfile.yaml -l early sync\n"), all);
    assert_eq!(chosen("helmfile -f other.yaml -l tier=early sync\n"), all);
}

#[test]
fn labels_that_a_template_decides_may_be_those_that_are_meant() {
    let text = "commonLabels: {stage: first}\ntemplates:\n  early: {labels: {tier: early}}\nreleases:\n  - {name: inherits, chart: hub/a, labels: {x: y}, inherit: [{template: early}]}\n  - name: decided\n    chart: hub/b\n    labels:\n      tier: {{ .Values.tier }}\n  - name: switched\n    chart: hub/c\n    labels:\n      {{- if .Values.late }}\n      tier: late\n      {{- end }}\n  - {name: none, chart: hub/d}\n  - {name: late, chart: hub/e, labels: {tier: late}}\n";
    let of = |script: &str| names(&[("bootstrap/helmfile.yaml", text), ("Taskfile.yaml", script)]);
    let task = |selector: &str| {
        format!("tasks:\n  up:\n    cmds:\n      - helmfile -f bootstrap/helmfile.yaml -l {selector} sync\n")
    };
    assert_eq!(of(&task("tier=early")), ["inherits", "decided", "switched"]);
    assert_eq!(of(&task("stage=first,tier=late")), ["decided", "switched", "late"]);
    assert!(of(&task("stage=second")).is_empty());
}

#[test]
fn a_helmfile_that_lists_others_may_choose_of_them() {
    let other = TIERS.replace("name: ", "name: b-");
    let parent = "helmfiles:\n  - {path: a.yaml, selectors: [name=net, tier=late]}\n  - b.yaml\n";
    let files = |parent: &'static str, script: &'static str| {
        let other = other.clone();
        names(&[
            ("helmfile/helmfile.yaml", parent),
            ("helmfile/a.yaml", TIERS),
            ("helmfile/b.yaml", &other),
            ("setup.sh", script),
        ])
    };
    assert_eq!(files(parent, ""), ["net", "web", "b-net", "b-certs", "b-web"]);
    assert_eq!(
        files(parent, "helmfile -f helmfile/helmfile.yaml -l tier=early sync\n"),
        ["net", "web", "b-net", "b-certs"]
    );
    assert_eq!(
        files(parent, "helmfile -f helmfile/a.yaml sync\n"),
        ["net", "certs", "web", "b-net", "b-certs", "b-web"]
    );
    let empty = "helmfiles:\n  - {path: a.yaml, selectors: []}\n";
    assert_eq!(
        files(empty, "helmfile -f helmfile/helmfile.yaml -l tier=late sync\n"),
        ["b-net", "b-certs", "b-web", "net", "certs", "web"]
    );
}

/// The `needs` that name nothing, as `namespace/name`.
fn undefined(files: &[(&str, &str)]) -> Vec<String> {
    let (_root, repository) = repository(files);
    let releases = read(&repository).into_iter().flat_map(|helmfile| helmfile.releases);
    let needs = releases.flat_map(|release| release.undefined_needs);
    needs.map(|(missing, _)| format!("{}/{}", missing.namespace, missing.name)).collect()
}

#[test]
fn needs_that_name_nothing_are_told() {
    let text = "releases:\n  - {name: a, namespace: x, chart: hub/a}\n  - {name: off, namespace: x, chart: hub/a, installed: false}\n  - {name: b, namespace: x, chart: hub/b, needs: [a, x/a, x/off]}\n  - {name: c, namespace: y, chart: hub/c, needs: [a, x/gone, context/x/gone]}\n";
    assert_eq!(undefined(&[("helmfile.yaml", text)]), ["y/a", "x/gone"]);
    let script = ("setup.sh", "helmfile -f helmfile.yaml -l name=b -l name=a sync\n");
    assert!(
        undefined(&[("helmfile.yaml", text), script]).is_empty(),
        "`c`, which needs nothing that is there, is not installed"
    );
    let script = ("setup.sh", "helmfile -f helmfile.yaml --namespace x sync\n");
    assert!(undefined(&[("helmfile.yaml", text), script]).is_empty());
}

#[test]
fn needs_are_not_judged_where_a_template_may_meet_them() {
    let bad = "  - {name: b, namespace: x, chart: hub/b, needs: [x/gone]}\n";
    let silent = [
        format!("releases:\n  - {{name: \"{{{{ env \"A\" }}}}\", namespace: x, chart: hub/a}}\n{bad}"),
        format!("releases:\n{{{{ include \"more\" . }}}}\n{bad}"),
        format!("releases:\n  - {{name: a, chart: hub/a}}\n{{{{ if env \"B\" }}}}\n{bad}{{{{ end }}}}\n"),
        format!("bases: [gone.yaml]\nreleases:\n{bad}"),
        format!("namespace: y\nreleases:\n{bad}"),
        format!("releases:\n  - name: {{{{ if env \"A\" }}}}a{{{{ else }}}}gone{{{{ end }}}}\n    chart: hub/a\n{bad}"),
        "releases:\n  - {name: b, namespace: '{{ env \"N\" }}', chart: hub/b, needs: [gone]}\n".to_owned(),
        "releases:\n  - {name: b, namespace: x, chart: hub/b, needs: ['x/{{ env \"N\" }}']}\n".to_owned(),
    ];
    for text in &silent {
        assert!(undefined(&[("helmfile.yaml", text)]).is_empty(), "{text}");
    }
    assert_eq!(undefined(&[("helmfile.yaml", &format!("releases:\n{bad}"))]), ["x/gone"]);
}

/// What is not seen, with the reason.
fn blind(files: &[(&str, &str)]) -> Vec<(Unseen, WhyUnseen)> {
    let (_root, repository) = repository(files);
    let bootstrap = bootstrap(&repository);
    let blind = bootstrap.blind();
    assert!(blind.iter().all(|spot| repository.locate(spot.at).is_some()));
    blind.iter().map(|spot| (spot.what.clone(), spot.why.clone())).collect()
}

#[test]
fn a_helmfile_that_can_not_be_read_is_a_blind_spot() {
    let broken = "releases:\n  - name: {{ if\n  ]]]\n";
    assert_eq!(blind(&[("helmfile.yaml", broken)]), [(Unseen::Named("helmfile.yaml".to_owned()), WhyUnseen::NoYaml)]);
    assert!(blind(&[("helmfile.yaml", APPS), ("bootstrap/values.yaml", "a: [\n")]).is_empty());
}

#[test]
fn releases_that_a_template_makes_are_a_blind_spot() {
    let looped = "releases:\n  - {name: a, chart: hub/a}\n{{ range .Values.apps }}\n  - name: {{ .name }}\n    chart: hub/{{ .name }}\n{{ end }}\n";
    let only_looped =
        "releases:\n{{- range .Values.apps }}\n  - name: {{ .name }}\n    chart: hub/{{ .name }}\n{{- end }}\n";
    let included = "releases:\n  - {name: a, chart: hub/a}\n{{ include \"more\" . }}\nhelmDefaults: {wait: true}\n";
    let whole = "releases:\n{{ toYaml .Values.releases | indent 2 }}\n";
    let inline = "releases: {{ toJson .Values.releases }}\n";
    for text in [looped, only_looped, included, whole, inline] {
        let spots = blind(&[("bootstrap/helmfile.yaml.gotmpl", text)]);
        let releases = Unseen::ReleasesOf { helmfile: "bootstrap/helmfile.yaml.gotmpl".to_owned() };
        assert_eq!(spots, [(releases, WhyUnseen::MadeByTemplate)], "{text}");
    }
    let values = "releases:\n  - name: a\n    chart: hub/a\n    values:\n      - |\n        {{ readFile \"x\" }}\n";
    assert!(blind(&[("helmfile.yaml", values)]).is_empty(), "an action inside of a release hides no release");
}

#[test]
fn files_that_a_helmfile_names_and_nobody_finds_are_blind_spots() {
    let text = "bases: [base.yaml, gone.yaml]\nhelmfiles:\n  - there.yaml\n  - {path: lost.yaml}\n  - parts/*.yaml\n  - none/*.yaml\n  - git::https://git.example.org/x.git@helmfile.yaml\n  - ../{{ .Environment.Name }}/helmfile.yaml\nreleases:\n  - {name: a, chart: hub/a}\n";
    let spots = blind(&[
        ("helmfile/helmfile.yaml", text),
        ("helmfile/base.yaml", "bases: [deeper.yaml]\nhelmDefaults: {wait: true}\n"),
        ("helmfile/there.yaml", ONE),
        ("helmfile/parts/one.yaml", ONE),
    ]);
    let named = |name: &str, why: WhyUnseen| (Unseen::Named(name.to_owned()), why);
    assert_eq!(
        spots,
        [
            named("../{{ .Environment.Name }}/helmfile.yaml", WhyUnseen::ChosenByTemplate),
            named("deeper.yaml", WhyUnseen::NotInRepository),
            named("git::https://git.example.org/x.git@helmfile.yaml", WhyUnseen::Fetched),
            named("gone.yaml", WhyUnseen::NotInRepository),
            named("lost.yaml", WhyUnseen::NotInRepository),
            named("none/*.yaml", WhyUnseen::NotInRepository),
        ]
    );
}

#[test]
fn helmfiles_that_list_each_other_many_times_come_to_an_end() {
    let entries = |name: &str| format!("  - {name}\n").repeat(200);
    let of = |name: &str| {
        let (helmfiles, bases) = (entries("b.yaml") + &entries("a.yaml"), entries("a.yaml") + &entries("b.yaml"));
        format!("helmfiles:\n{helmfiles}bases:\n{bases}releases:\n  - {{name: {name}, chart: hub/{name}}}\n")
    };
    let script = ("setup.sh", "helmfile -f helmfile/a.yaml -l name=x sync\n");
    let files = [("helmfile/a.yaml", of("x")), ("helmfile/b.yaml", of("y"))];
    assert_eq!(names(&[(files[0].0, &files[0].1), (files[1].0, &files[1].1), script]), ["x"]);
}

const ONE: &str = "releases:\n  - {name: one, namespace: x, chart: hub/one}\n";

fn only_crds(path: &str, text: &str, script: &str) -> bool {
    let (_root, repository) = repository(&[(path, text), ("bootstrap/mod.just", script)]);
    release(&read(&repository), "one").only_crds
}

#[test]
fn releases_rendered_only_for_their_crds_are_told_apart() {
    let with_args = format!("helmDefaults: {{args: [--include-crds, --no-hooks]}}\n{ONE}");
    assert!(only_crds("bootstrap/helmfile/first.yaml", &with_args, ""));
    assert!(only_crds("bootstrap/helmfile.d/00-crds.yaml", ONE, ""));
    assert!(!only_crds("bootstrap/helmfile.d/00-apps.yaml", ONE, ""));
    let templated = "base:\n    if ! helmfile -f \"{{ source_directory() }}/helmfile/first.yaml\" template -q | yq ea 'select(.kind == \"CustomResourceDefinition\")' | kubectl apply --server-side -f -; then\n        exit 1\n    fi\n";
    assert!(only_crds("bootstrap/helmfile/first.yaml", ONE, templated));
    let synced = "dir := justfile_dir() + '/bootstrap'\napps:\n    helmfile -f \"{{ dir }}/helmfile/crds.yaml\" sync --hide-notes\n";
    assert!(!only_crds("bootstrap/helmfile/crds.yaml", ONE, synced), "a script installs it after all");
}

#[test]
fn a_variable_means_its_nearest_assignment_above() {
    let script = "#!/usr/bin/env bash\nROOT_DIR=\"$(git rev-parse --show-toplevel)\"\ncrds() {\n  local -r file=\"${ROOT_DIR}/bootstrap/helmfile.d/00-first.yaml\"\n  crds=$(helmfile --file \"${file}\" template \\\n    | yq 'select(.kind == \"CustomResourceDefinition\")')\n}\napps() {\n  local -r file=\"${ROOT_DIR}/bootstrap/helmfile.d/01-second.yaml\"\n  helmfile --file \"${file}\" sync\n}\n";
    let (_root, repository) = repository(&[
        ("bootstrap/helmfile.d/00-first.yaml", ONE),
        ("bootstrap/helmfile.d/01-second.yaml", &ONE.replace("one", "two")),
        ("scripts/bootstrap.sh", script),
    ]);
    let helmfiles = read(&repository);
    assert!(release(&helmfiles, "one").only_crds && !release(&helmfiles, "two").only_crds);
}

#[test]
fn helmfiles_run_in_order() {
    let (_root, repository) = repository(&[
        ("bootstrap/helmfile/apps.yaml", ONE),
        ("bootstrap/helmfile/crds.yaml", ONE),
        ("late/helmfile.yaml", "helmfiles:\n  - path: b.helmfile.yaml\n  - a.helmfile.yaml\n"),
        ("late/a.helmfile.yaml", ONE),
        ("late/b.helmfile.yaml", ONE),
        ("archive/bootstrap/helmfile.yaml", ONE),
    ]);
    let helmfiles = read(&repository);
    let order: Vec<&str> = helmfiles.iter().map(|helmfile| helmfile.path.as_str()).collect();
    assert_eq!(
        order,
        [
            "bootstrap/helmfile/crds.yaml",
            "bootstrap/helmfile/apps.yaml",
            "late/helmfile.yaml",
            "late/b.helmfile.yaml",
            "late/a.helmfile.yaml"
        ]
    );
}

{{/*
Shared by every chart here: packed into each as templates/_lab.tpl.

`lab.delays.NAME` says how long the pod of a Deployment takes to become ready; `lab.webhook` is the address and the
certificate of the server that plays the operators' webhooks; `lab.crashing` names those whose pods crash. The case runner sets both in the HelmRelease's values.
*/}}
{{- define "lab.deployment" -}}
{{- $lab := .root.Values.lab | default dict -}}
{{- $delays := $lab.delays | default dict -}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    app.kubernetes.io/name: {{ .name }}
spec:
  replicas: {{ .replicas | default 1 }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
      app.kubernetes.io/instance: {{ .root.Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .name }}
        app.kubernetes.io/instance: {{ .root.Release.Name }}
      annotations:
        lab.coldstart.dev/ready-after: {{ index $delays .name | default "0s" | quote }}
        {{- if has .name ($lab.crashing | default list) }}
        lab.coldstart.dev/crash: "true"
        {{- end }}
    spec:
      {{- with .pod }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      containers:
        - name: main
          image: lab.example.org/{{ .name }}:lab
{{ end -}}

{{- define "lab.crd" -}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {{ .plural }}.{{ .group }}
spec:
  group: {{ .group }}
  names:
    kind: {{ .kind }}
    listKind: {{ .kind }}List
    plural: {{ .plural }}
    singular: {{ lower .kind }}
  scope: {{ .scope | default "Namespaced" }}
  versions:
    {{- range $index, $version := .versions }}
    - name: {{ $version }}
      served: true
      storage: {{ eq $index 0 }}
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-preserve-unknown-fields: true
      subresources:
        status: {}
    {{- end }}
{{ end -}}

{{- define "lab.webhook" -}}
{{- $lab := .root.Values.lab | default dict -}}
{{- with $lab.webhook -}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ $.name }}
webhooks:
  - name: {{ $.deployment }}.lab.coldstart.dev
    admissionReviewVersions: [v1]
    clientConfig:
      # Answers only while this Deployment is available.
      url: {{ .url }}/{{ $.root.Release.Namespace }}/{{ $.deployment }}
      caBundle: {{ .caBundle }}
    failurePolicy: {{ $.failurePolicy | default "Fail" }}
    sideEffects: None
    timeoutSeconds: 5
    rules:
      - apiGroups: {{ toJson $.groups }}
        apiVersions: ["*"]
        operations: [CREATE, UPDATE]
        resources: {{ toJson $.resources }}
{{ end -}}
{{- end -}}

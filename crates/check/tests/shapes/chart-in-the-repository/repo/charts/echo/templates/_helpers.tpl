{{- define "echo.name" -}}
echo
{{- end -}}

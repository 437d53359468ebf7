{{- define "labels" }}
helm.sh/chart: {{ .Chart.Name }}
{{- end }}

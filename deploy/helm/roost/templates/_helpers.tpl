{{- define "roost.name" -}}
{{- if contains "roost" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-roost" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "roost.agentsNamespace" -}}
{{- $name := .Values.agents.namespace | default (printf "%s-agents" .Release.Namespace) }}
{{- if eq $name .Release.Namespace }}
{{- fail "agents.namespace must differ from the namespace of the release: the API may read every Secret there" }}
{{- end }}
{{- $name }}
{{- end }}

{{- /* Arguments: the root and the name of the component. */ -}}
{{- define "roost.selector" -}}
app.kubernetes.io/name: roost
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "roost.labels" -}}
{{ include "roost.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- /* Arguments: the root and an entry of `images`. A digest wins over a tag. */ -}}
{{- define "roost.image" -}}
{{- with .root.Values.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "roost.agentImage" -}}
{{- if .Values.images.agent }}{{ .Values.images.agent }}{{ else }}{{ with .Values.registry }}{{ trimSuffix "/" . }}/{{ end }}roost-agent:{runtime}-{{ .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "roost.secretName" -}}
{{- .Values.secret.existing | default (include "roost.name" .) }}
{{- end }}

{{- define "roost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "roost.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Arguments: the root and the values of the component. */ -}}
{{- define "roost.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "roost.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{- define "roost.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Arguments: the root, the variable and the key of the installation's Secret. */ -}}
{{- define "roost.fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ include "roost.secretName" .root }}, key: {{ .key }} }
{{- end }}

{{- define "roost.databaseUrl" -}}
{{- if .Values.bundledPostgres.enabled }}
{{ include "roost.fromSecret" (dict "root" . "name" "POSTGRES_PASSWORD" "key" "postgres-password") }}
- name: ROOST_DATABASE_URL
  value: postgres://roost:$(POSTGRES_PASSWORD)@{{ include "roost.name" . }}-postgres:5432/roost
{{- else if .Values.database.existingSecret.name }}
- name: ROOST_DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ .Values.database.existingSecret.name }}, key: {{ .Values.database.existingSecret.key }} }
{{- else }}
- name: ROOST_DATABASE_URL
  valueFrom:
    secretKeyRef: { name: {{ include "roost.name" . }}-connections, key: database-url }
{{- end }}
{{- end }}

{{- define "roost.redisUrl" -}}
{{- if .Values.bundledRedis.enabled }}
{{ include "roost.fromSecret" (dict "root" . "name" "REDIS_PASSWORD" "key" "redis-password") }}
- name: ROOST_REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "roost.name" . }}-redis:6379/0
{{- else if .Values.redis.existingSecret.name }}
- name: ROOST_REDIS_URL
  valueFrom:
    secretKeyRef: { name: {{ .Values.redis.existingSecret.name }}, key: {{ .Values.redis.existingSecret.key }} }
{{- else }}
- name: ROOST_REDIS_URL
  valueFrom:
    secretKeyRef: { name: {{ include "roost.name" . }}-connections, key: redis-url }
{{- end }}
{{- end }}

{{- /* `roost.caVariable`, `roost.caMount` and `roost.caVolume` need each other. */ -}}
{{- define "roost.caVariable" -}}
{{- if .Values.caBundle.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/roost/ca.crt }
{{- end }}
{{- end }}

{{- define "roost.caMount" -}}
{{- if .Values.caBundle.configMap }}
- { name: authorities, mountPath: /etc/roost, readOnly: true }
{{- end }}
{{- end }}

{{- define "roost.caVolume" -}}
{{- with .Values.caBundle }}
{{- if .configMap }}
- { name: authorities, configMap: { name: {{ .configMap }}, items: [{ key: {{ .key }}, path: ca.crt }] } }
{{- end }}
{{- end }}
{{- end }}

{{- define "roost.logLevel" -}}
{{- with .Values.settings.ROOST_LOG_LEVEL }}
- name: ROOST_LOG_LEVEL
  value: {{ . | quote }}
{{- end }}
{{- end }}

{{- /* By version and not by discovery, so that `helm template --kube-version` renders the same objects. */ -}}
{{- define "roost.disruptionApi" -}}
{{- if semverCompare ">=1.21-0" .Capabilities.KubeVersion.Version }}policy/v1{{ else }}policy/v1beta1{{ end }}
{{- end }}

{{- /* A map as the configuration reads it: `key=value,key=value`. */ -}}
{{- define "roost.pairs" -}}
{{- $pairs := list }}
{{- range $key, $value := . }}{{ $pairs = append $pairs (printf "%s=%s" $key $value) }}{{ end }}
{{- join "," $pairs }}
{{- end }}

{{- /* Tolerations as the configuration reads them: `key`, `key=value`, `key=value:Effect`. */ -}}
{{- define "roost.tolerations" -}}
{{- $all := list }}
{{- range . }}
{{- $all = append $all (printf "%s%s%s" .key (ternary (printf "=%s" (.value | default "")) "" (eq (.operator | default "Equal") "Equal")) (ternary (printf ":%s" (.effect | default "")) "" (not (empty .effect)))) }}
{{- end }}
{{- join "," $all }}
{{- end }}

{{/* The claim with the records of workspaces; empty without one. */}}
{{- define "roost.historyClaim" -}}
{{- with .Values.history }}{{ .existingClaim | default (ternary (printf "%s-history" (include "roost.name" $)) "" (ne .storageClass "")) }}{{ end }}
{{- end }}

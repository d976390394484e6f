import type { CredentialRequirement, CredentialRequirements } from '@roost/contracts/agents/credentials'

type Tone = 'success' | 'warning' | 'danger' | 'neutral'

/** The state of one requirement. A missing one is an error only when required. */
export function requirementWords({ status, required }: Pick<CredentialRequirement, 'status' | 'required'>): {
  tone: Tone
  label: string
} {
  switch (status) {
    case 'set':
      return { tone: 'success', label: 'Set' }
    case 'unknown':
      return { tone: 'neutral', label: 'Unknown' }
    case 'missing':
      return required === true ? { tone: 'danger', label: 'Missing' } : { tone: 'warning', label: 'Not set' }
  }
}

/** Where the requirement comes from. */
export function sourceWords(source: string): string {
  if (source.startsWith('mcp:')) return `for the MCP server ${source.slice('mcp:'.length)}`
  return sources[source] ?? source
}

const sources: Readonly<Record<string, string>> = {
  env_file: 'variable of the agent',
  config_files: 'file in the workspace',
  mcp_json_template: 'named in .mcp.json.template',
  env_example: 'named in .env.example',
}

/** A remark on the whole checklist; null when none is needed. */
export function checklistRemark(list: CredentialRequirements): { title: string; text: string } | null {
  switch (list.state) {
    case 'degraded':
      return {
        title: 'Some states are unknown',
        text: list.degraded_reason ?? 'The agent did not report which credentials are set.',
      }
    case 'declaration_incomplete':
      return {
        title: 'Incomplete declaration in the template',
        text:
          list.errors.length > 0
            ? list.errors.join('; ')
            : 'Some credentials were found in the workspace but are not declared in template.yaml.',
      }
    case 'ok':
    case 'no_credentials_required':
      return null
  }
}

import type { CredentialRequirement, CredentialRequirements } from '@roost/contracts/agents/credentials'

type Tone = 'success' | 'warning' | 'danger' | 'neutral'

/** How one requirement stands; one that is missing counts by whether it is needed. */
export function requirementWords({ status, required }: Pick<CredentialRequirement, 'status' | 'required'>): {
  tone: Tone
  label: string
} {
  switch (status) {
    case 'set':
      return { tone: 'success', label: 'Set' }
    case 'unknown':
      return { tone: 'neutral', label: 'Not known' }
    case 'missing':
      return required === true ? { tone: 'danger', label: 'Missing' } : { tone: 'warning', label: 'Not set' }
  }
}

/** Who wants it, in words. */
export function sourceWords(source: string): string {
  if (source.startsWith('mcp:')) return `for the MCP server ${source.slice('mcp:'.length)}`
  return sources[source] ?? source
}

const sources: Readonly<Record<string, string>> = {
  env_file: 'for the agent itself',
  config_files: 'a file of the workspace',
  mcp_json_template: 'named in .mcp.json.template',
  env_example: 'named in .env.example',
}

/** What has to be said about a checklist as a whole; null when it speaks for itself. */
export function checklistRemark(list: CredentialRequirements): { title: string; text: string } | null {
  switch (list.state) {
    case 'degraded':
      return {
        title: 'Not all is known now',
        text: list.degraded_reason ?? 'The agent does not tell what is set.',
      }
    case 'declaration_incomplete':
      return {
        title: 'The template does not declare everything',
        text:
          list.errors.length > 0
            ? list.errors.join('; ')
            : 'Some names were found where nobody said what they are for.',
      }
    case 'ok':
    case 'no_credentials_required':
      return null
  }
}

import type { TemplateDetails } from '@roost/contracts/agents/templates'
import { Badge } from '../../ui/badge.tsx'

/** The credentials that the template declares. */
export function CredentialNeeds({ template }: { template: TemplateDetails }) {
  const { required_credentials, credentials, credential_setup } = template
  const needs = [
    ...required_credentials,
    ...credentials.config_files.map((name) => ({ name, source: 'config_files' })),
  ]
  const setups = new Map(credential_setup.map((setup) => [setup.name, setup]))
  return (
    <div>
      <h3 className="mb-1 font-medium text-sm">Required credentials</h3>
      {needs.length === 0 ? (
        <p className="text-muted text-sm">This template declares no required credentials.</p>
      ) : (
        <ul aria-label="Required credentials" className="divide-y divide-line border-y border-line text-sm">
          {needs.map(({ name, source }) => {
            const setup = setups.get(name)
            return (
              <li key={name} className="py-2">
                <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
                  <code className="break-all text-xs">{name}</code>
                  <Badge>{sourceWords(source)}</Badge>
                  {setup?.required === false && <Badge>optional</Badge>}
                </p>
                {setup && (
                  <p className="break-words text-muted text-xs">
                    {[textOf(setup.title), textOf(setup.description)].filter(Boolean).join('. ')}
                  </p>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}

/** Where a requirement was found. */
function sourceWords(source: string): string {
  if (source.startsWith('mcp:')) return `for ${source.slice('mcp:'.length)}`
  return words[source] ?? source
}

const words: Readonly<Record<string, string>> = {
  env_file: 'variable',
  config_files: 'file',
  mcp_json_template: 'in .mcp.json.template',
  env_example: 'in .env.example',
}

/** Untrusted input of any type. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

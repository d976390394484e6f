import type { AgentKeyCheck } from '@roost/contracts/agents/mcp-key'
import { StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { verdictWords } from './words.ts'

/** The result of checking the key inside the container. */
export function KeyCheck({ check }: { check: AgentKeyCheck }) {
  const { label, tone, meaning } = verdictWords[check.verdict]
  return (
    <Banner
      tone={tone === 'danger' || tone === 'warning' || tone === 'success' ? tone : 'neutral'}
      title={`In the container: ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
    >
      <p>{meaning}</p>
      {check.entries.length > 0 && (
        <ul className="mt-2 flex flex-col gap-1">
          {check.entries.map((entry) => (
            <li key={entry.server_name} className="flex min-w-0 flex-wrap items-center gap-x-2 text-ink">
              <code className="break-all text-xs">{entry.server_name}</code>
              <StatusDot tone={verdictWords[entry.verdict].tone} label={verdictWords[entry.verdict].label} />
              {entry.key_prefix && <code className="text-muted text-xs">{entry.key_prefix}…</code>}
            </li>
          ))}
        </ul>
      )}
    </Banner>
  )
}

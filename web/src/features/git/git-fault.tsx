import { ApiError } from '@roost/contracts/client'
import { describeFault } from '../../lib/fault.ts'
import { Banner } from '../../ui/banner.tsx'

/** Why git refused, by name; of a conflict also which kind. */
export function GitFault({ error }: { error: unknown }) {
  if (!error) return null
  const { sentence, code } = describeFault(error)
  const body = error instanceof ApiError ? error.body : null
  const kinds = [body?.conflict_type, body?.conflict_class].filter((kind) => typeof kind === 'string')
  return (
    <Banner tone="danger" title={sentence}>
      {code === 'git_conflict' &&
        'It is never resolved by itself: choose another way, or settle it in the agent. '}
      <code className="text-xs">{[code, ...kinds].join(' · ')}</code>
    </Banner>
  )
}

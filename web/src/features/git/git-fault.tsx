import { ApiError } from '@roost/contracts/client'
import { describeFault } from '../../lib/fault.ts'
import { Banner } from '../../ui/banner.tsx'

/** The error of a git operation with its code; for a conflict also its kind. */
export function GitFault({ error }: { error: unknown }) {
  if (!error) return null
  const { sentence, code } = describeFault(error)
  const body = error instanceof ApiError ? error.body : null
  const kinds = [body?.conflict_type, body?.conflict_class].filter((kind) => typeof kind === 'string')
  return (
    <Banner tone="danger" title={sentence}>
      {code === 'git_conflict' &&
        'Conflicts are not resolved automatically. Choose another option, or resolve the conflict in the workspace.  '}
      <code className="text-xs">{[code, ...kinds].join(' · ')}</code>
    </Banner>
  )
}

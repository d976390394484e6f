import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { EyeOff } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { meQuery } from '../users/queries.ts'
import { errorWords, humanWords, type Remedy, terminalWords } from './words.ts'

/** Explains an outcome other than plain success; renders nothing for success. */
export function RunProblem({ run }: { run: ExecutionDetails }) {
  return (
    <>
      {run.redacted && (
        <Banner tone="neutral" icon={<EyeOff aria-hidden />} title="Private conversation of another user">
          You can see the status and cost of the run. Only the owner of the conversation and admins can see
          its message, answer, transcript and tool calls.
        </Banner>
      )}
      <Ending run={run} />
      {run.retry_scheduled_at !== null && run.status === 'pending_retry' && (
        <Banner tone="warning" title="Retry pending">
          The retry starts <RelativeTime at={run.retry_scheduled_at} />.
        </Banner>
      )}
    </>
  )
}

function Ending({ run }: { run: ExecutionDetails }) {
  const { status, error, error_code: code, terminal_reason: reason, skip_reason: skipped } = run
  if (status === 'skipped') {
    return (
      <Banner tone="neutral" title="Run skipped">
        {skipped === null ? error : humanWords(skipped)}
      </Banner>
    )
  }
  if (status !== 'failed' && status !== 'cancelled') return null
  const words = code === null ? { title: 'The run failed', hint: '' } : errorWords[code]
  return (
    <Banner
      tone={status === 'failed' ? 'danger' : 'neutral'}
      title={status === 'cancelled' && error !== null ? error : words.title}
      action={
        words.remedy && !run.agent_deleted && <RemedyLink remedy={words.remedy} name={run.agent_name} />
      }
    >
      {words.hint && <p>{words.hint}</p>}
      {status === 'failed' && error !== null && (
        <p className="mt-1.5 max-h-48 overflow-y-auto rounded-sm bg-surface/70 px-2 py-1.5 font-mono text-ink text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
          {error}
        </p>
      )}
      <p className="mt-1 flex flex-wrap gap-x-2 text-xs">
        {code && <code>{code}</code>}
        {reason !== null && reason !== 'cancelled' && <span>{terminalWords(reason)}</span>}
      </p>
    </Banner>
  )
}

function RemedyLink({ remedy, name }: { remedy: Remedy; name: string }) {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const className = buttonClass({ size: 'sm' })
  if (remedy === 'provider_keys') {
    if (me.role !== 'admin')
      return <span className="text-muted text-xs">Ask an admin to check the provider keys.</span>
    return (
      <Link to="/settings" search={{ tab: 'integrations' }} className={className}>
        Provider keys
      </Link>
    )
  }
  return (
    <Link
      to="/agents/$name"
      params={{ name }}
      search={remedy === 'agent_settings' ? { tab: 'settings' } : {}}
      className={className}
    >
      {remedy === 'agent_settings' ? 'Agent settings' : 'Go to agent'}
    </Link>
  )
}

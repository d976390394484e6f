import { useQuery } from '@tanstack/react-query'
import { Pencil, RotateCw } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { endedQuery } from './queries.ts'
import { endWords } from './turn-end.ts'
import { RunLink } from './turn-foot.tsx'
import type { TurnActions, VisibleTurn } from './visible-turns.ts'

export type TurnFailureProps = Omit<VisibleTurn, 'key'> & { agentName: string; actions: TurnActions }

/** Why there is no answer, and what to do. Renders nothing while an answer exists or may arrive. */
export function TurnFailure({ stored, live, agentName, actions }: TurnFailureProps) {
  const turn = { stored, live }
  if (stored?.answer) return null
  if (live?.phase === 'refused') return <Refused fault={live.fault} turn={turn} actions={actions} />
  const code = stored?.question?.error_code ?? live?.end?.code ?? null
  if (code === null && !hasFailed(live?.end?.status)) return null
  if (code === 'user_cancelled' || live?.end?.status === 'cancelled') {
    return <Stopped turn={turn} actions={actions} />
  }
  const executionId = stored?.executionId ?? live?.executionId ?? null
  return (
    <Failed code={code} detail={live?.end?.detail ?? null} {...{ executionId, agentName, turn, actions }} />
  )
}

type Part = { turn: Omit<VisibleTurn, 'key'>; actions: TurnActions }

function hasFailed(status: string | undefined): boolean {
  return status === 'failed' || status === 'skipped'
}

function Stopped({ turn, actions }: Part) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
      <span className="inline-flex items-center gap-1.5">
        <StopIcon className="size-3" />
        Stopped
      </span>
      <Button size="sm" variant="ghost" icon={<RotateCw aria-hidden />} onClick={() => actions.onRetry(turn)}>
        Try again
      </Button>
    </div>
  )
}

function Failed({
  code,
  detail,
  executionId,
  agentName,
  turn,
  actions,
}: Part & { code: string | null; detail: string | null; executionId: string | null; agentName: string }) {
  const api = useApi()
  const { data } = useQuery({
    ...endedQuery(api, agentName, executionId ?? ''),
    enabled: executionId !== null && detail === null,
  })
  const { title, hint } = endWords(code)
  const details = detail ?? data?.error ?? null
  return (
    <Banner tone="danger" title={title} action={<Again turn={turn} actions={actions} />}>
      {hint && <p>{hint}</p>}
      {details && <p className="line-clamp-6 text-xs break-words whitespace-pre-wrap">{details}</p>}
      <p className="flex flex-wrap gap-x-3 text-xs">
        {code && <code>{code}</code>}
        {executionId !== null && <RunLink agentName={agentName} executionId={executionId} />}
      </p>
    </Banner>
  )
}

/** A refused turn, which the platform did not store. Shown until it is sent again or discarded. */
function Refused({ fault, turn, actions }: Part & { fault: unknown }) {
  const { sentence, code } = describeFault(fault)
  return (
    <Banner
      tone="danger"
      title="Not sent"
      action={
        <>
          <Again turn={turn} actions={actions} />
          <Button size="sm" icon={<Pencil aria-hidden />} onClick={() => actions.onEdit(turn)}>
            Edit
          </Button>
        </>
      }
    >
      <p className="break-words">{sentence}</p>
      <code className="text-xs">{code}</code>
    </Banner>
  )
}

function Again({ turn, actions }: Part) {
  return (
    <Button size="sm" icon={<RotateCw aria-hidden />} onClick={() => actions.onRetry(turn)}>
      Try again
    </Button>
  )
}

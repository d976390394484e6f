import type { Loop } from '../../background/loops.ts'
import type { WorkStateOf } from '../../foundation/idempotency/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import { type BindingDeps, type Bindings, createBindings } from './binding.ts'
import { createEnd, type End, type EndDeps } from './end.ts'
import { createFollowUp, type FollowUpDeps } from './follow-up.ts'
import { createMedia } from './media.ts'
import { overdueOutcome } from './rules.ts'
import { type CallSessionDeps, createCallSession } from './session.ts'
import { createStart, type Start, type StartDeps } from './start.ts'
import { createStatus, type StatusDeps } from './status.ts'
import { callStore } from './store.ts'

type Without<T> = Omit<T, 'endings' | 'telephony'>

export type CallsDeps = Without<BindingDeps> &
  Without<StartDeps> &
  Without<StatusDeps> &
  Without<CallSessionDeps> &
  Without<EndDeps> &
  FollowUpDeps & {
    db: Db
    telephony: Telephony
    /** Whether the platform offers calls. */
    isOn(): boolean
  }

export type Calls = {
  bindings: Bindings
  start: Start['start']
  receiveStatus: ReturnType<typeof createStatus>
  media: Pick<ReturnType<typeof createMedia>, 'admit'>
  isOn(): boolean
  workState: WorkStateOf
  /** Hooks that end the agent's open calls. */
  agentStopped(tx: Tx, agentId: string): Promise<void>
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Ends this process's calls; resolves when transcripts are stored and the provider is notified. */
  close(): Promise<void>
}

export function createCalls(deps: CallsDeps): Calls {
  const endings = createEnd(deps)
  const bindings = createBindings({ ...deps, endings })
  const { start, workState } = createStart({ ...deps, endings })
  const receiveStatus = createStatus({ ...deps, endings })
  const carry = createCallSession({ ...deps, endings })
  const media = createMedia({ ...deps, carry })
  const followUps = createFollowUp(deps)
  const sweep = createSweep({ ...deps, endings })
  endings.onEnded((call) => {
    media.end(call.id)
    followUps.start(call)
  })
  return {
    bindings,
    start,
    receiveStatus,
    media,
    isOn: deps.isOn,
    workState,
    agentStopped: (tx, agentId) => endings.endOpenCalls(tx, agentId, 'agent_stopped'),
    agentDeleted: (tx, agentId) => endings.endOpenCalls(tx, agentId, 'agent_deleted'),
    loops: [
      { name: 'conversations.calls', everySeconds: 5, run: sweep.overdue },
      { name: 'conversations.call-transcripts', everySeconds: 10, run: followUps.runDue },
      { name: 'conversations.old-calls', everySeconds: 300, run: sweep.old },
    ],
    async close() {
      await media.close()
      await followUps.idle()
      await endings.idle()
    },
  }
}

/** The provider sends its last status within seconds of the end. */
const tokenSeconds = 900
/** Matches the default retention of executions. */
const retentionDays = 90
const batch = 50

/** Ends calls past their deadline: unanswered, without media, or abandoned by a crashed process. */
function createSweep({
  db,
  clock,
  log,
  endings,
}: {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  endings: Pick<End, 'end'>
}) {
  const before = (seconds: number) => timestamp(secondsLater(clock.now(), -seconds))
  return {
    async overdue(signal: AbortSignal): Promise<void> {
      for (const call of await callStore(db).overdue(before(0), batch)) {
        if (signal.aborted) return
        const outcome = overdueOutcome(call)
        log.info(
          { call_id: call.id, execution_id: call.execution_id, outcome },
          'a call reached its deadline',
        )
        await endings.end(call.id, outcome)
      }
    },
    async old(): Promise<void> {
      await callStore(db).forgetTokens(before(tokenSeconds))
      await callStore(db).removeEnded(before(retentionDays * 86_400))
    },
  }
}

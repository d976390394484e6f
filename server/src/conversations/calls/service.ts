import type { Loop } from '../../background/loops.ts'
import type { WorkStateOf } from '../../foundation/idempotency/index.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import { type BindingDeps, type Bindings, createBindings } from './binding.ts'
import { createEnd, type EndDeps } from './end.ts'
import { createFollowUp, type FollowUpDeps } from './follow-up.ts'
import { createMedia } from './media.ts'
import { type CallSessionDeps, createCallSession } from './session.ts'
import { createStart, type Start, type StartDeps } from './start.ts'
import { createStatus, type StatusDeps } from './status.ts'
import { createSweep } from './sweep.ts'

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

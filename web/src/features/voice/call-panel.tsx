import { Mic, MicOff, PhoneOff } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { type CallLine, type CallTask, type CallView, endWords } from './call-state.ts'
import type { CallTarget } from './queries.ts'
import { useCall } from './use-call.ts'

export type CallPanelProps = { target: CallTarget; agentLabel: string; onClose: () => void }

/** A call with an agent: state, transcript, mute and end. */
export function CallPanel({ target, agentLabel, onClose }: CallPanelProps) {
  const { call, fault, isMuted, mute } = useCall(target)
  const isOver = call.state === 'ended'
  return (
    <Dialog
      open
      onOpenChange={onClose}
      insistent={!isOver}
      title={`Call with ${agentLabel}`}
      footer={
        isOver ? (
          <Button onClick={onClose}>Done</Button>
        ) : (
          <>
            <Button
              icon={isMuted ? <MicOff aria-hidden /> : <Mic aria-hidden />}
              aria-pressed={isMuted}
              onClick={() => mute(!isMuted)}
            >
              {isMuted ? 'Muted' : 'Mute'}
            </Button>
            <Button variant="danger" icon={<PhoneOff aria-hidden />} onClick={onClose}>
              End call
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-3">
        <p role="status" className="flex items-center gap-2 text-muted text-sm">
          <span
            aria-hidden
            className={cx(
              'size-2 rounded-full',
              isOver ? 'bg-line' : 'bg-accent',
              call.state === 'speaking' && 'motion-safe:animate-pulse',
            )}
          />
          {isOver && fault === null ? endWords(call.reason) : stateWords(call, isMuted, agentLabel)}
        </p>
        {fault !== null && (
          <Banner tone="danger" title="Could not start the call">
            {faultWords(fault)}
          </Banner>
        )}
        <Lines lines={call.lines} agentLabel={agentLabel} />
        <Tasks tasks={call.tasks} />
      </div>
    </Dialog>
  )
}

function stateWords({ state }: CallView, isMuted: boolean, agentLabel: string): string {
  if (state === 'connecting') return 'Connecting…'
  if (state === 'ended') return 'Call ended.'
  if (state === 'speaking') return `${agentLabel} is speaking`
  return isMuted ? 'Muted' : 'Listening'
}

function faultWords(fault: unknown): string {
  if (fault instanceof DOMException && fault.name === 'NotAllowedError')
    return 'The browser blocks the microphone for this page. Allow it in the address bar, then call again.'
  if (fault instanceof DOMException && fault.name === 'NotFoundError')
    return 'No microphone found. Connect a microphone and call again.'
  return fault instanceof Error ? fault.message : 'Something went wrong.'
}

function Lines({ lines, agentLabel }: { lines: readonly CallLine[]; agentLabel: string }) {
  const end = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (lines.length > 0) end.current?.scrollIntoView({ block: 'nearest' })
  }, [lines])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs a tab stop
    <ol aria-label="Transcript" tabIndex={0} className="flex h-64 flex-col gap-2 overflow-y-auto text-sm">
      {lines.length === 0 && <li className="m-auto text-muted">The transcript appears here.</li>}
      {lines.map(({ key, role, text, final }) => (
        <li key={key} className={cx('max-w-[85%] break-words', role === 'user' && 'self-end text-right')}>
          <span className="block text-muted text-xs">{role === 'user' ? 'You' : agentLabel}</span>
          <span className={cx(!final && 'text-muted')}>{text}</span>
        </li>
      ))}
      <li ref={end} aria-hidden />
    </ol>
  )
}

function Tasks({ tasks }: { tasks: readonly CallTask[] }) {
  if (tasks.length === 0) return null
  return (
    <ul aria-label="Tasks of the agent" className="flex flex-col gap-1 border-line border-t pt-3 text-xs">
      {tasks.map(({ id, label, state }) => (
        <li key={id} className="flex gap-2">
          <span className="min-w-0 flex-1 truncate">{label}</span>
          <span className="text-muted">{state}</span>
        </li>
      ))}
    </ul>
  )
}

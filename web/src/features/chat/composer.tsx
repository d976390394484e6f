import { ArrowUp } from 'lucide-react'
import type { ClipboardEvent, KeyboardEvent, ReactNode, RefObject } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { AttachFiles } from './attach-files.tsx'
import { AttachmentChips } from './attachment-chips.tsx'
import type { ComposerState } from './use-composer.ts'

export type ComposerProps = {
  state: ComposerState
  input: RefObject<HTMLTextAreaElement | null>
  agentLabel: string
  /** Above the field: why no message can be sent, and what to do. */
  obstacle: ReactNode
  /** Disables sending; typing stays possible. */
  isBlocked: boolean
  isSending: boolean
  onSend: () => void
  /** Stops the running turn; null when none is running. */
  onStop: (() => void) | null
  isStopping: boolean
  modelChoice: ReactNode
  /** Uploads of this message's files. */
  uploads?: ReactNode
  /** A button to talk instead of typing. */
  call?: ReactNode
}

/** The message field. Enter sends, Shift+Enter starts a new line, Escape leaves the field. */
export function Composer(props: ComposerProps) {
  const {
    state,
    input,
    agentLabel,
    obstacle,
    isBlocked,
    isSending,
    onSend,
    onStop,
    isStopping,
    modelChoice,
    uploads,
    call,
  } = props
  const isReady = !isBlocked && state.isSendable
  const isPending = isSending || state.isStoring

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape') return event.currentTarget.blur()
    // Enter that confirms an input method's composition must not send.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (isReady && !isPending) onSend()
  }
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    void state.attach(files)
  }
  return (
    <div className="mx-auto w-full max-w-3xl px-4 pb-3 md:px-6 md:pb-4">
      {obstacle}
      <div className="rounded-xl border border-control bg-surface shadow-xs transition-colors duration-100 focus-within:border-focus">
        <AttachmentChips state={state} />
        {uploads}
        <textarea
          ref={input}
          rows={1}
          aria-label={`Message to ${agentLabel}`}
          placeholder={`Message ${agentLabel}`}
          value={state.text}
          // The message is sent with this text when its files are stored.
          readOnly={state.isStoring}
          onChange={(event) => state.setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="block field-sizing-content max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 text-base leading-6 text-ink outline-none"
        />
        <div className="flex items-center gap-1 px-2 pb-2">
          <AttachFiles
            takesAnyFile={state.takesAnyFile}
            onChosen={(files) => {
              void state.attach(files)
              input.current?.focus()
            }}
          />
          <div className="min-w-0 flex-1">{modelChoice}</div>
          {call}
          {state.excess > 0 && (
            <span className="text-xs text-danger">
              {state.excess.toLocaleString('en')} characters over the limit
            </span>
          )}
          {onStop && (
            <Button icon={<StopIcon />} pending={isStopping} onClick={onStop}>
              Stop
            </Button>
          )}
          {(!onStop || state.text !== '') && (
            <IconButton
              variant="primary"
              label="Send"
              shortcut={['Enter']}
              icon={<ArrowUp aria-hidden />}
              pending={isPending}
              disabled={!isReady}
              onClick={onSend}
            />
          )}
        </div>
      </div>
    </div>
  )
}

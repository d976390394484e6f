import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Input } from './input.tsx'

export type ConfirmDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** What happens, and whether it can be undone. */
  description: ReactNode
  /** The verb on the button, e.g. `Delete agent`. */
  action: string
  onConfirm: () => void
  /** A name to type before the button is enabled. */
  typed?: string
  tone?: 'danger' | 'primary'
  pending?: boolean
  children?: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onOpenChange, title, description, action, tone = 'danger', pending } = props
  const formId = useId()
  const [text, setText] = useState('')
  const isReady = props.typed === undefined || text.trim() === props.typed
  // A key still held down from the menu must not confirm the dialog.
  const focused = props.typed !== undefined ? 'field' : tone === 'danger' ? 'cancel' : 'action'
  const change = (next: boolean) => {
    setText('')
    onOpenChange(next)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !pending) props.onConfirm()
  }
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={title}
      description={description}
      size="sm"
      footer={
        <>
          <Button data-autofocus={focused === 'cancel' || undefined} onClick={() => change(false)}>
            Cancel
          </Button>
          <Button
            data-autofocus={focused === 'action' || undefined}
            type="submit"
            form={formId}
            variant={tone}
            pending={pending}
            disabled={!isReady}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-3">
        {props.children}
        {props.typed !== undefined && (
          <Field label={`Type ${props.typed} to confirm`}>
            <Input
              mono
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
        )}
      </form>
    </Dialog>
  )
}

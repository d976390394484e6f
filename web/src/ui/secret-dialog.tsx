import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Checkbox } from './checkbox.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

export type SecretDialogProps = {
  /** Secrets by name; null keeps the dialog closed. */
  secrets: readonly { label: string; value: string }[] | null
  onClose: () => void
  title: string
  description?: ReactNode
  /** How to use it: an example or a link to the documentation. */
  children?: ReactNode
}

/** Shows secrets once. Closes only after the user has confirmed that they are stored. */
export function SecretDialog({ secrets, onClose, title, description, children }: SecretDialogProps) {
  const [isStored, setStored] = useState(false)
  const close = () => {
    setStored(false)
    onClose()
  }
  return (
    <Dialog
      open={secrets !== null}
      onOpenChange={() => isStored && close()}
      title={title}
      description={description ?? 'Copy it now. Roost cannot show it again.'}
      insistent
      footer={
        <Button variant="primary" disabled={!isStored} onClick={close}>
          Done
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {secrets?.map((secret) => (
          <SecretText key={secret.label} {...secret} />
        ))}
        {children}
        <Checkbox checked={isStored} onCheckedChange={setStored}>
          I have stored it
        </Checkbox>
      </div>
    </Dialog>
  )
}

/** A secret with its name. One click selects all of it, a button copies it. */
export function SecretText({ label, value }: { label: string; value: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <span className="text-sm font-medium">{label}</span>
      <div className="flex items-start gap-1 rounded-md border border-line bg-sunken p-1">
        <code className="min-w-0 flex-1 px-1.5 py-1 text-xs break-all whitespace-pre-wrap select-all">
          {value}
        </code>
        <CopyButton text={value} label={`Copy ${label}`} />
      </div>
    </div>
  )
}

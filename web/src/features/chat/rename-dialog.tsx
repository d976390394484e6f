import { ConversationTitle } from '@roost/contracts/conversations/chat'
import { useId } from 'react'
import { z } from 'zod'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'

const Renamed = z.object({ title: ConversationTitle })

type RenameDialogProps = {
  title: string
  onClose: () => void
  /** Throws the error for the form. */
  onRename: (title: string) => Promise<void>
}

export function RenameDialog({ title, onClose, onRename }: RenameDialogProps) {
  const id = useId()
  const form = useZodForm(Renamed, { defaultValues: { title } })
  async function rename(body: { title: string }): Promise<void> {
    await onRename(body.title)
    onClose()
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Rename conversation"
      size="sm"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} variant="primary" pending={form.formState.isSubmitting}>
            Rename
          </Button>
        </>
      }
    >
      <Form form={form} onSubmit={rename} id={id}>
        <FormError />
        <TextField name="title" label="Name" maxLength={100} autoComplete="off" />
      </Form>
    </Dialog>
  )
}

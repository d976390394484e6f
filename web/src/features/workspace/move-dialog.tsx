import { ApiError } from '@roost/contracts/client'
import { z } from 'zod'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { isProtected, nameFault, nameOf, type Place, visibleName } from './paths.ts'

export type MoveDialogProps = {
  /** Null keeps the dialog closed. */
  place: Place | null
  onClose: () => void
  move: (from: string, to: string) => Promise<void>
  onMoved: (from: Place, to: string) => void
}

export function MoveDialog(props: MoveDialogProps) {
  const { place, onClose } = props
  return (
    <Dialog
      open={place !== null}
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={`Move or rename “${visibleName(nameOf(place?.path ?? ''))}”`}
      description="Enter the new path in the workspace. Missing folders are created."
    >
      {place && <MoveForm {...props} place={place} />}
    </Dialog>
  )
}

const Target = z.object({
  path: z.string().superRefine((path, context) => {
    const message = isProtected(path)
      ? 'This path is reserved for git, the credentials or the platform.'
      : nameFault(path)
    if (message !== null) context.addIssue({ code: 'custom', message })
  }),
})

function MoveForm({ place, onClose, move, onMoved }: MoveDialogProps & { place: Place }) {
  const form = useZodForm(Target, { defaultValues: { path: place.path } })
  return (
    <Form
      form={form}
      onSubmit={async ({ path }) => {
        if (path === place.path) return onClose()
        try {
          await move(place.path, path)
        } catch (error) {
          if (!(error instanceof ApiError) || error.body?.error !== 'already_exists') throw error
          const message = 'An entry with this path already exists.'
          return form.setError('path', { message }, { shouldFocus: true })
        }
        onMoved(place, path)
      }}
    >
      <FormError />
      <TextField name="path" label="New path" autoComplete="off" spellCheck={false} mono autoFocus />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Move
        </Button>
      </DialogButtons>
    </Form>
  )
}

import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { Button } from './button.tsx'

/** The buttons of a settings form, shown while there are unsaved changes. */
export function SaveRow<In extends FieldValues, Out>({ form }: { form: UseFormReturn<In, unknown, Out> }) {
  const { isDirty, isSubmitting } = form.formState
  if (!isDirty && !isSubmitting) return null
  return (
    <div className="flex gap-2">
      <Button type="submit" variant="primary" pending={isSubmitting}>
        Save
      </Button>
      <Button variant="ghost" disabled={isSubmitting} onClick={() => form.reset()}>
        Discard
      </Button>
    </div>
  )
}

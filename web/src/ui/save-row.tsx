import type { FieldValues, UseFormReturn } from 'react-hook-form'
import { Button } from './button.tsx'

/** The buttons below a form of settings: nothing to do while nothing was changed. */
export function SaveRow<In extends FieldValues, Out>({ form }: { form: UseFormReturn<In, unknown, Out> }) {
  const { isDirty, isSubmitting } = form.formState
  return (
    <div className="flex gap-2">
      <Button type="submit" variant="primary" disabled={!isDirty} pending={isSubmitting}>
        Save
      </Button>
      {isDirty ? (
        <Button variant="ghost" onClick={() => form.reset()}>
          Discard
        </Button>
      ) : null}
    </div>
  )
}

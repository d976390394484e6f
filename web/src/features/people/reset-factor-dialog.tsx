import type { ManagedUser } from '@roost/contracts/identity/people'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { titleOf } from './people-rows.ts'
import type { usePersonActions } from './person-actions.ts'

type ResetFactorProps = {
  person: ManagedUser
  open: boolean
  onOpenChange: (open: boolean) => void
  reset: ReturnType<typeof usePersonActions>['reset']
}

/** For users who have lost both their device and their recovery codes. */
export function ResetFactorDialog({ person, open, onOpenChange, reset }: ResetFactorProps) {
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Reset the second factor of ${titleOf(person)}?`}
      description="The codes of the app and the recovery codes stop working. Verify the identity of the user first: until a new factor is set up, the first sign-in step is sufficient."
      action="Reset second factor"
      pending={reset.isPending}
      onConfirm={() => reset.mutate(undefined, { onSettled: () => onOpenChange(false) })}
    />
  )
}

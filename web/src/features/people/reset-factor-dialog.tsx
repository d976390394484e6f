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

/** For somebody who has lost the device and the recovery codes. */
export function ResetFactorDialog({ person, open, onOpenChange, reset }: ResetFactorProps) {
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Reset the second factor of ${titleOf(person)}?`}
      description="The app’s codes and the recovery codes become void. Be sure it is really this person who asks: from then on the first step alone lets in, until a new factor is set up."
      action="Reset the factor"
      pending={reset.isPending}
      onConfirm={() => reset.mutate(undefined, { onSettled: () => onOpenChange(false) })}
    />
  )
}

import { describeFault } from '../../lib/fault.ts'
import { toast } from '../../ui/toast.tsx'

/** Shows an error as a toast, for actions without a form. */
export function showFault(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}

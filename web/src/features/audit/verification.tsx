import { type AuditVerification, verifyAuditLog } from '@roost/contracts/foundation/audit'
import { useMutation } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { formatNumber } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'

/** The check of the whole chain: its button, and how it came out. */
export function useVerification() {
  const api = useApi()
  const verify = useMutation({ mutationFn: () => api.call(verifyAuditLog, { body: {} }) })
  const button = (
    <Button icon={<ShieldCheck aria-hidden />} pending={verify.isPending} onClick={() => verify.mutate()}>
      Verify
    </Button>
  )
  return { ...verify, button }
}

export function VerificationResult({ verification }: { verification: ReturnType<typeof useVerification> }) {
  const { data, error, isPending, mutate, reset } = verification
  if (isPending) {
    return (
      <Banner tone="neutral" title="Verifying…">
        The seal of every entry is computed again; a long log takes a while.
      </Banner>
    )
  }
  if (error)
    return <ErrorState title="The log could not be verified" error={error} onRetry={() => mutate()} />
  return data ? <Verdict result={data} onDismiss={reset} /> : null
}

function Verdict({ result, onDismiss }: { result: AuditVerification; onDismiss: () => void }) {
  if (result.status === 'empty_range')
    return <Banner title="The log has no entry yet." onDismiss={onDismiss} />
  const checked = `${formatNumber(result.checked)} ${result.checked === 1 ? 'entry was' : 'entries were'} checked`
  if (result.status === 'verified') {
    return (
      <Banner tone="success" title="The log is whole." onDismiss={onDismiss}>
        {checked}; none was changed, and none is missing.
      </Banner>
    )
  }
  return (
    <Banner tone="danger" title="The log was tampered with." onDismiss={onDismiss}>
      Entry number {result.first_invalid_id ?? 'unknown'} is the first that was changed, is gone, or does not
      follow the one before it. {checked}. Compare with a backup or an export, and look for who had access to
      the database.
    </Banner>
  )
}

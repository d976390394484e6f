import { SecretDialog } from '../../ui/secret-dialog.tsx'

/** Shown once; null keeps it closed. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: string[] | null; onClose(): void }) {
  return (
    <SecretDialog
      title="Your recovery codes"
      description="Without the app, each of them lets you in once. Store them apart from it: they are shown only now."
      secrets={codes && [{ label: 'Recovery codes', value: codes.join('\n') }]}
      onClose={onClose}
    />
  )
}

import { SecretDialog } from '../../ui/secret-dialog.tsx'

/** Shown once; null keeps the dialog closed. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: string[] | null; onClose(): void }) {
  return (
    <SecretDialog
      title="Your recovery codes"
      description="Each code replaces the app for one sign-in. Store the codes separately from your device. They are shown only once."
      secrets={codes && [{ label: 'Recovery codes', value: codes.join('\n') }]}
      onClose={onClose}
    />
  )
}

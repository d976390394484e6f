import { QrCode } from '../../ui/qr-code.tsx'
import { SecretText } from '../../ui/secret-dialog.tsx'
import { CodeForm, type CodeFormProps } from './code-form.tsx'

/** What the server offers to enrol with. */
export type EnrolmentOffer = { secret: string; qr_svg: string }

/** Brings the secret into an authenticator app and has one code of it as a proof. */
export function Enrolment({
  offer,
  ...form
}: { offer: EnrolmentOffer } & Pick<CodeFormProps, 'action' | 'onCode' | 'children'>) {
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">
        Scan this with an authenticator app, or type the secret into it. Then type the code it shows.
      </p>
      <QrCode
        svg={offer.qr_svg}
        label="QR code for an authenticator app; the secret below says the same"
        className="mx-auto size-44"
      />
      <SecretText label="Secret" value={offer.secret} />
      <CodeForm kind="app" {...form} />
    </div>
  )
}

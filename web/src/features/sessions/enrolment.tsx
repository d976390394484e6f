import { QrCode } from '../../ui/qr-code.tsx'
import { SecretText } from '../../ui/secret-dialog.tsx'
import { CodeForm, type CodeFormProps } from './code-form.tsx'

/** The enrolment data of the server. */
export type EnrolmentOffer = { secret: string; qr_svg: string }

/** Shows the secret for an authenticator app, and asks for a code as proof. */
export function Enrolment({
  offer,
  ...form
}: { offer: EnrolmentOffer } & Pick<CodeFormProps, 'action' | 'onCode' | 'children'>) {
  return (
    <div className="flex flex-col gap-4">
      <p className="text-muted text-sm">
        Scan the QR code with an authenticator app, or enter the secret there. Then enter the code that the
        app shows.
      </p>
      <QrCode
        svg={offer.qr_svg}
        label="QR code for an authenticator app. It contains the secret below."
        className="mx-auto size-44"
      />
      <SecretText label="Secret" value={offer.secret} />
      <CodeForm kind="app" {...form} />
    </div>
  )
}

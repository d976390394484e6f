import {
  confirmFactorEnrolment,
  disableFactor,
  renewRecoveryCodes,
  startFactorEnrolment,
} from '@roost/contracts/identity/second-factor'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { Enrolment, type EnrolmentOffer } from './enrolment.tsx'
import { FactorCodeForm } from './factor-code-form.tsx'
import { FactorFacts } from './factor-facts.tsx'
import { factorKey, factorQuery } from './queries.ts'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'

/** The user's own second factor: set up, recovery codes, turn off. */
export function FactorSection() {
  const { api, queries } = useApp()
  const { data: status } = useSuspenseQuery(factorQuery(api))
  const [offer, setOffer] = useState<EnrolmentOffer | null>(null)
  const [openDialog, setOpenDialog] = useState<'renew' | 'disable' | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: factorKey }),
      queries.invalidateQueries({ queryKey: ['me'] }),
    ])
  const start = useMutation({
    mutationFn: () => api.call(startFactorEnrolment, {}),
    onSuccess: setOffer,
    onError: (error) => {
      toast({ title: error.message, tone: 'danger' })
      // It may have been set up in another browser.
      void refresh()
    },
  })

  async function confirm(code: string): Promise<void> {
    const { recovery_codes } = await api.call(confirmFactorEnrolment, { body: { code } })
    setOffer(null)
    setCodes(recovery_codes)
    await refresh()
  }
  async function renew(code: string): Promise<void> {
    const { recovery_codes } = await api.call(renewRecoveryCodes, { body: { code } })
    setOpenDialog(null)
    setCodes(recovery_codes)
    await refresh()
  }
  async function disable(code: string): Promise<void> {
    await api.call(disableFactor, { body: { code } })
    setOpenDialog(null)
    toast({ title: 'Second factor turned off.', tone: 'success' })
    await refresh()
  }

  return (
    <Section
      title="Two-factor authentication"
      description="A code from an authenticator app as a second factor, required at each sign-in."
    >
      {status.required && !status.enrolled ? (
        <Banner tone="warning" title="Your role requires a second factor.">
          You must set it up at your next sign-in.
        </Banner>
      ) : null}
      <FactorFacts status={status} />
      <div className="flex flex-wrap gap-2">
        {status.enrolled ? (
          <>
            <Button onClick={() => setOpenDialog('renew')}>New recovery codes</Button>
            {status.required ? null : <Button onClick={() => setOpenDialog('disable')}>Turn off</Button>}
          </>
        ) : (
          <Button pending={start.isPending} onClick={() => start.mutate()}>
            Set up second factor
          </Button>
        )}
      </div>
      <Dialog
        open={offer !== null}
        onOpenChange={() => setOffer(null)}
        title="Set up second factor"
        size="sm"
      >
        {offer ? <Enrolment offer={offer} action="Turn on" onCode={confirm} /> : null}
      </Dialog>
      <Dialog
        open={openDialog === 'renew'}
        onOpenChange={() => setOpenDialog(null)}
        title="New recovery codes"
        description="Creates ten new recovery codes. Your current codes stop working."
        size="sm"
      >
        <FactorCodeForm action="Create new codes" onCode={renew} />
      </Dialog>
      <Dialog
        open={openDialog === 'disable'}
        onOpenChange={() => setOpenDialog(null)}
        title="Turn off second factor"
        description="Signing in no longer requires a code. The entry in your app and the recovery codes stop working."
        size="sm"
      >
        <FactorCodeForm action="Turn off" variant="danger" onCode={disable} />
      </Dialog>
      <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Section>
  )
}

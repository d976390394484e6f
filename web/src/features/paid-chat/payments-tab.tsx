import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { flagsQuery } from '../settings/queries.ts'
import { OfferForm } from './offer-form.tsx'
import { PaymentList } from './payment-list.tsx'
import { paidChatQuery } from './queries.ts'

/** Price, usage example and payments of the paid chat. */
export function PaymentsTab({ name }: { name: string }) {
  const api = useApi()
  const offer = useQuery(paidChatQuery(api, name))
  const flags = useQuery(flagsQuery(api))
  if (!offer.data) {
    if (!offer.error) return <Skeleton className="h-72" />
    return (
      <ErrorState title="Could not load the price" error={offer.error} onRetry={() => void offer.refetch()} />
    )
  }
  return (
    <div className="flex min-w-0 flex-col gap-6">
      {flags.data?.paid_chat === false && (
        <Banner tone="warning" title="Payments are not configured on this platform">
          Paid messages are refused until an operator sets{' '}
          <code className="text-xs">ROOST_X402_FACILITATOR_URL</code> to the URL of an x402 facilitator.
        </Banner>
      )}
      <div>
        <Section
          title="Price"
          description="People without an account can send messages to this agent and pay for each in USDC with the x402 protocol. Failed runs are not charged."
        >
          <OfferForm name={name} offer={offer.data} />
        </Section>
        <Section
          title="How to pay"
          description="The first response is 402 with the payment requirements. An x402 client signs them and sends the message again with the proof in the PAYMENT-SIGNATURE header."
        >
          <CodeBlock code={curlOf(offer.data.url)} language="bash" title="Request the price" />
        </Section>
        <Section title="Payments" description="Verified, settled and rejected payments, newest first.">
          <PaymentList name={name} />
        </Section>
      </div>
    </div>
  )
}

function curlOf(url: string): string {
  return `curl -i ${url} \\\n  -H 'content-type: application/json' \\\n  -d '{"message": "Hello"}'`
}

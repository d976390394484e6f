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

/** What strangers pay for a message to the agent, how they do it, and what became of their payments. */
export function PaymentsTab({ name }: { name: string }) {
  const api = useApi()
  const offer = useQuery(paidChatQuery(api, name))
  const flags = useQuery(flagsQuery(api))
  if (!offer.data) {
    if (!offer.error) return <Skeleton className="h-72" />
    return (
      <ErrorState
        title="The price could not be loaded"
        error={offer.error}
        onRetry={() => void offer.refetch()}
      />
    )
  }
  return (
    <div className="flex min-w-0 flex-col gap-6">
      {flags.data?.paid_chat === false && (
        <Banner tone="warning" title="This installation collects no payments">
          Paid messages are refused until the platform is started with{' '}
          <code className="text-xs">ROOST_X402_FACILITATOR_URL</code>, the address of a facilitator of x402.
        </Banner>
      )}
      <div>
        <Section
          title="Price"
          description="Strangers without an account may send messages to this agent, each paid in USDC by the x402 protocol. A run that fails costs them nothing."
        >
          <OfferForm name={name} offer={offer.data} />
        </Section>
        <Section
          title="How it is paid"
          description="The first answer is 402 and says what is to be paid. A client of x402 signs that and sends the message again, with the proof in the header PAYMENT-SIGNATURE."
        >
          <CodeBlock code={curlOf(offer.data.url)} language="bash" title="Ask for the price" />
        </Section>
        <Section title="Payments" description="Verified, settled, or refused; the newest first.">
          <PaymentList name={name} />
        </Section>
      </div>
    </div>
  )
}

function curlOf(url: string): string {
  return `curl -i ${url} \\\n  -H 'content-type: application/json' \\\n  -d '{"message": "Hello"}'`
}

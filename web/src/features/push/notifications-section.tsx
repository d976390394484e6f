import type { User } from '@roost/contracts/identity/users'
import { deletePushDevice, type PushDevice, testPushDevice } from '@roost/contracts/operations/push'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { holderOf, readMark, turnOff, turnOn } from './device.ts'
import { pushDevicesQuery } from './queries.ts'
import { type PushSupport, pushSupport } from './support.ts'

/** Notifications of the inbox on this device, and the person's devices that have them. */
export function NotificationsSection({ me }: { me: Pick<User, 'id'> }) {
  const { api, queries, session } = useApp()
  const query = pushDevicesQuery(api)
  const devices = useQuery(query)
  const [support, setSupport] = useState(pushSupport)
  const [pending, setPending] = useState<string | null>(null)
  const own = readMark()?.device
  const here = devices.data?.find(({ id }) => id === own)

  async function act(name: string, work: () => Promise<unknown>): Promise<void> {
    setPending(name)
    try {
      await work()
    } catch (error) {
      toast({ title: messageOf(error), tone: 'danger' })
    } finally {
      setSupport(pushSupport())
      setPending(null)
      await queries.invalidateQueries({ queryKey: query.queryKey })
    }
  }

  const start = () =>
    act('on', async () => {
      if (await turnOn(api, holderOf(me, session))) toast({ title: 'Notifications are on.', tone: 'success' })
    })
  const test = ({ id }: PushDevice) =>
    act(`test ${id}`, async () => {
      const { accepted, reason } = await api.call(testPushDevice, { params: { id } })
      if (accepted) toast({ title: 'Test notification sent.', tone: 'success' })
      else toast({ title: `The test was not sent. ${reason ?? ''}`, tone: 'danger' })
    })
  const remove = ({ id }: PushDevice) =>
    act(`remove ${id}`, () => (id === own ? turnOff(api) : api.call(deletePushDevice, { params: { id } })))

  return (
    <Section
      title="Notifications"
      description="A message on your devices when an agent asks something or needs attention. It names the agent and the title of the item."
    >
      {support !== 'ready' ? (
        <Banner tone="warning" title={refusals[support].title}>
          {refusals[support].text}
        </Banner>
      ) : (
        !here && (
          <div>
            <Button variant="primary" pending={pending === 'on'} onClick={() => void start()}>
              Turn on notifications on this device
            </Button>
          </div>
        )
      )}
      {devices.data ? (
        devices.data.length > 0 ? (
          <ul
            aria-label="Devices with notifications"
            className="divide-y divide-line rounded-lg border border-line bg-surface"
          >
            {devices.data.map((device) => (
              <li key={device.id} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2.5">
                <div className="min-w-0 flex-1 basis-48">
                  <p className="flex flex-wrap items-center gap-2 font-medium text-sm">
                    {device.name}
                    {device.id === own && <Badge tone="accent">This device</Badge>}
                  </p>
                  <p className="text-muted text-xs">
                    Last opened <RelativeTime at={device.seen_at} />
                    {device.last_sent_at && (
                      <>
                        , last notification <RelativeTime at={device.last_sent_at} />
                      </>
                    )}
                  </p>
                  {device.last_error && (
                    <p className="text-danger text-xs">Not delivered: {device.last_error}</p>
                  )}
                </div>
                <div className="flex flex-wrap gap-2">
                  <Button
                    pending={pending === `test ${device.id}`}
                    onClick={() => void test(device)}
                    aria-label={`Send a test to ${device.name}`}
                  >
                    Send a test
                  </Button>
                  <Button
                    pending={pending === `remove ${device.id}`}
                    onClick={() => void remove(device)}
                    aria-label={`Turn off notifications on ${device.name}`}
                  >
                    Turn off
                  </Button>
                </div>
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-muted text-sm">No device has notifications.</p>
        )
      ) : devices.error ? (
        <ErrorState error={devices.error} onRetry={() => void devices.refetch()} className="py-4" />
      ) : (
        <Skeleton className="h-8" />
      )}
    </Section>
  )
}

const refusals: Record<Exclude<PushSupport, 'ready'>, { title: string; text: ReactNode }> = {
  insecure: {
    title: 'Notifications need HTTPS',
    text: 'Browsers allow them only at an address that starts with https://, or on localhost. An admin can set up HTTPS for the platform.',
  },
  needs_install: {
    title: 'Add Roost to the home screen first',
    text: 'Tap Share, then “Add to Home Screen”. Open Roost from the home screen and turn notifications on there.',
  },
  unsupported: {
    title: 'This browser has no notifications',
    text: 'Use a current version of Chrome, Edge, Firefox or Safari, outside a private window.',
  },
  blocked: {
    title: 'This browser blocks notifications of Roost',
    text: 'Allow notifications for this address in the settings of the browser, then reload the page.',
  },
}

function messageOf(error: unknown): string {
  // The browser could not reach its vendor's push service.
  if (error instanceof DOMException && error.name !== 'NotAllowedError')
    return 'The browser could not subscribe at its push service. Check the connection and try again.'
  return describeFault(error).sentence
}

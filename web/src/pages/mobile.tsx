import { createLazyRoute } from '@tanstack/react-router'
import { MobileAgents } from '../features/agents/mobile-agents.tsx'
import { MobileInbox } from '../features/operator-queue/mobile-inbox.tsx'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/m')({ component: Mobile })

/** Where the installed app starts: the inbox and the list of agents. */
function Mobile() {
  const { item } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page width="text">
      <Title of={['Mobile overview']} />
      <PageHeader title="Mobile overview" aside={<PageHelp guide="how-to/phone" topic="Phone" />} />
      <div className="flex min-w-0 flex-col gap-6">
        <MobileInbox
          chosen={item}
          onChoose={(next) => void navigate({ search: { item: next }, resetScroll: false })}
        />
        <MobileAgents />
      </div>
    </Page>
  )
}

import { createLazyRoute } from '@tanstack/react-router'
import { KeysTab } from '../features/keys/keys-tab.tsx'
import { Page } from '../shell/page.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/keys')({ component: KeysPage })

function KeysPage() {
  return (
    <Page>
      <Title of={['MCP keys']} />
      <KeysTab />
    </Page>
  )
}

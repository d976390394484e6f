import { createLazyRoute } from '@tanstack/react-router'
import { Home } from '../features/home/home.tsx'
import { Page } from '../shell/page.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/')({ component: HomePage })

function HomePage() {
  return (
    <Page>
      <Title of={['Home']} />
      <Home />
    </Page>
  )
}

import { PageHelp } from '../../shell/page-help.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function Home() {
  return <PageHeader title="Home" aside={<PageHelp guide="tutorial" topic="Your first agent" />} />
}

import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageTab } from './tabbed-page.tsx'

/** The parts of the page in their order; the first one is shown when the address names none. */
export const libraryTabs: readonly PageTab[] = [
  {
    id: 'templates',
    label: 'Templates',
    Content: lazyPart(async () => (await import('../features/templates/gallery.tsx')).TemplateGallery),
  },
  {
    id: 'skills',
    label: 'Skills',
    Content: lazyPart(async () => (await import('../features/skills/skills-library.tsx')).SkillsLibrary),
  },
]

import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageTab } from './tabbed-page.tsx'

/** The tabs in display order; the first one is the default. */
export const libraryTabs: readonly PageTab[] = [
  {
    id: 'templates',
    label: 'Templates',
    guide: 'how-to/templates',
    Content: lazyPart(async () => (await import('../features/templates/gallery.tsx')).TemplateGallery),
  },
  {
    id: 'skills',
    label: 'Skills',
    guide: 'how-to/skills',
    Content: lazyPart(async () => (await import('../features/skills/skills-library.tsx')).SkillsLibrary),
  },
]

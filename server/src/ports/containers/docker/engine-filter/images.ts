import { namedImages } from '../../../../kit/named-images.ts'

/**
 * Allows the images that Roost builds in `repository`, or those that the operator `named`; `{runtime}` stands for the
 * runtime's name. With a digest, some engines start an image of another repository.
 */
export function agentImageRule(repository: string, named: string | null): (image: string) => boolean {
  if (named === null) return matcher(`${repository}:`, /^\w[\w.-]{0,127}$/, '')
  const images = namedImages(named)
  if (images !== null) return (image) => [...images.values()].includes(image)
  const [before = '', after] = named.split('{runtime}')
  return after === undefined ? (image) => image === named : matcher(before, /^[a-z0-9]+(-[a-z0-9]+)*$/, after)
}

function matcher(before: string, middle: RegExp, after: string) {
  return (image: string) =>
    image.length > before.length + after.length &&
    image.startsWith(before) &&
    image.endsWith(after) &&
    middle.test(image.slice(before.length, image.length - after.length))
}

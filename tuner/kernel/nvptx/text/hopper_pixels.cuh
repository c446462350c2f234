/* Stores pixels of a window's results, each with its channels, from (w, h) of `image` on, line after line (PTX ISA,
 * "im2col mode"). */
FN void store_pixels(const Map &map, u32 from, int channel, int w, int h, int image)
{
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
                 "[%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
                 "r"(from), "r"(channel), "r"(w), "r"(h), "r"(image)
                 : "memory");
}

/* Results of which lines of outputs continue into the padding between them (WindowTaps): threads store them as
 * vectors of 16 bytes, those that are outputs. */
FN void load_piece(u32 at, u32 (&v)[4])
{
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
}
FN void store_vector(void *to, const u32 (&v)[4])
{
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* Where a column's output is. */
struct WidePlace {
    int w, h, image;
    FN void next(int columns, int wide, int lines)
    {
        for (w += columns; w >= wide; w -= wide)
            if (++h == lines) h = 0, image++;
    }
};

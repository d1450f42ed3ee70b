"""The functions of PyTorch 2.13 that formulas may call by plain names, with their argument counts.

`tests/torchgen/test_functions_of_torch.py` compares both with PyTorch.
"""

from __future__ import annotations

from functools import cache

# The public functions of the module `torch`.
TORCH_FUNCTIONS = frozenset("""
    abs abs_ absolute acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul
    addmm addmv addmv_ addr adjoint affine_grid_generator alias_copy all allclose alpha_dropout alpha_dropout_ amax
    amin aminmax angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2
    arctan_ arctanh arctanh_ are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided
    as_strided_ as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh
    atanh_ atleast_1d atleast_2d atleast_3d autocast_decrement_nesting autocast_increment_nesting avg_pool1d baddbmm
    bartlett_window batch_norm batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
    batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats bernoulli
    bilinear binary_cross_entropy_with_logits bincount binomial bitwise_and bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor blackman_window block_diag bmm broadcast_shapes broadcast_tensors
    broadcast_to bucketize can_cast cartesian_prod cat ccol_indices_copy cdist ceil ceil_ celu celu_ chain_matmul
    channel_shuffle cholesky cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_ clamp_max
    clamp_max_ clamp_min clamp_min_ classproperty clear_autocast_cache clip clip_ clone col_indices_copy
    column_stack combinations compile compiled_with_cxx11_abi complex concat concatenate cond conj conj_physical
    conj_physical_ constant_pad_nd conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    convolution copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov
    cross crow_indices_copy ctc_loss cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
    cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler
    cudnn_is_acceptable cummax cummin cumprod cumsum cumulative_trapezoid deg2rad deg2rad_ dequantize det detach
    detach_ detach_copy diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma dist div
    divide dot dropout dropout_ dsmm dsplit dstack eig einsum embedding embedding_bag embedding_renorm_ empty
    empty_like empty_permuted empty_quantized empty_strided eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_
    expand_copy expm1 expm1_ eye fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
    fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
    fbgemm_pack_quantized_matrix feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fill
    fill_ fix fix_ flatten flip fliplr flipud float_power floor floor_ floor_divide fmax fmin fmod fork frac frac_
    frexp frobenius_norm from_dlpack from_file from_numpy frombuffer full full_like fused_moving_avg_obs_fake_quant
    gather gcd gcd_ ge geqrf ger get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
    get_autocast_ipu_dtype get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode
    get_device get_device_module get_file_path get_float32_matmul_precision get_num_interop_threads get_num_threads
    get_rng_state gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru
    gru_cell gt hamming_window hann_window hardshrink hash_tensor heaviside hinge_embedding_loss histc histogram
    histogramdd hsmm hsplit hspmm hstack hypot i0 i0_ igamma igammac imag import_ir_module
    import_ir_module_from_buffer index_add index_copy index_fill index_put index_put_ index_reduce index_select
    indices_copy init_num_threads initial_seed inner instance_norm int_repr inverse is_anomaly_check_nan_enabled
    is_anomaly_enabled is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled
    is_autocast_xla_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed
    is_floating_point is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size
    is_signed is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite isin isinf isnan
    isneginf isposinf isreal istft kaiser_window kl_div kron kthvalue layer_norm lcm lcm_ ldexp ldexp_ le lerp less
    less_equal lgamma linspace load lobpcg log log10 log10_ log1p log1p_ log2 log2_ log_ log_softmax logaddexp
    logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_ logspace logsumexp
    lstm lstm_cell lstsq lt lu lu_solve lu_unpack manual_seed margin_ranking_loss masked_fill masked_scatter
    masked_select matmul matrix_exp matrix_power matrix_rank max max_pool1d max_pool1d_with_indices max_pool2d
    max_pool3d maximum mean median merge_type_from_type_comment meshgrid min minimum miopen_batch_norm
    miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
    miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution
    mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer mm mode moveaxis movedim
    msort mul multinomial multiply mv mvlgamma nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow
    narrow_copy native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm
    native_norm ne neg neg_ negative negative_ nextafter nonzero nonzero_static norm norm_except_dim normal
    not_equal nuclear_norm numel ones ones_like orgqr ormqr outer pairwise_distance parse_ir parse_schema
    parse_type_comment pca_lowrank pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle poisson
    poisson_nll_loss polar polygamma positive pow prelu prepare_multiprocessing_environment prod
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 promote_types put q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qr quantile quantize_per_channel quantize_per_tensor
    quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
    quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
    quantized_rnn_tanh_cell rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like randperm range
    ravel real reciprocal reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_
    resize_as_sparse_ resolve_conj resolve_neg result_type rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
    roll rot90 round round_ row_indices_copy row_stack rrelu rrelu_ rsqrt rsqrt_ rsub saddmm save scalar_tensor
    scatter scatter_add scatter_reduce searchsorted seed segment_reduce select select_copy select_scatter selu selu_
    set_anomaly_enabled set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled
    set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
    set_autocast_xla_dtype set_autocast_xla_enabled set_default_device set_default_dtype set_default_tensor_type
    set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads
    set_num_threads set_printoptions set_rng_state set_warn_always sgn sigmoid sigmoid_ sign signbit sin sin_ sinc
    sinc_ sinh sinh_ slice_copy slice_inverse slice_scatter slogdet smm softmax solve sort sparse_bsc_tensor
    sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor split
    split_copy split_with_sizes split_with_sizes_copy spmm sqrt sqrt_ square square_ squeeze squeeze_copy sspaddmm
    stack std std_mean stft sub subtract sum svd svd_lowrank swapaxes swapdims sym_constrain_range
    sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
    symeig t t_copy take take_along_dim tan tan_ tanh tanh_ tensor tensor_split tensordot thread_safe_generator
    threshold threshold_ tile to_dlpack topk trace transpose transpose_copy trapezoid trapz triangular_solve tril
    tril_indices triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename unbind unbind_copy
    unflatten unfold_copy unify_type_list unique unique_consecutive unravel_index unsafe_chunk unsafe_split
    unsafe_split_with_sizes unsqueeze unsqueeze_copy use_deterministic_algorithms values_copy vander var var_mean
    vdot view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vmap vsplit vstack wait where
    while_loop xlogy xlogy_ zero_ zeros zeros_like
    """.split())

# The functions of the namespace `at`. Each group begins with the minimum and maximum argument
# counts over all overloads of the function, and of the method, whose tensor counts, too.
_FUNCTIONS = """
    0 is_vulkan_available
    1 abs abs_ absolute acos acos_ acosh acosh_ adjoint alias alias_copy angle arccos arccos_ arccosh arccosh_ arcsin
        arcsin_ arcsinh arcsinh_ arctan arctan_ arctanh arctanh_ argwhere asin asin_ asinh asinh_ atan atan_ atanh
        atanh_ atleast_1d atleast_2d atleast_3d bitwise_not block_diag broadcast_tensors cartesian_prod
        ccol_indices_copy ceil ceil_ chain_matmul col_indices_copy column_stack conj_physical conj_physical_ corrcoef
        cos cos_ cosh cosh_ crow_indices_copy cudnn_is_acceptable deg2rad deg2rad_ dequantize det detach detach_
        detach_copy digamma dstack erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_ expm1 expm1_
        fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16 fix fix_ flatten_dense_tensors fliplr flipud floor
        floor_ frac frac_ frexp geqrf hardsigmoid hardsigmoid_ hardswish hardswish_ hstack i0 i0_ imag indices_copy
        int_repr inverse is_distributed is_nonzero isfinite isinf isnan isneginf isposinf isreal lgamma lift
        lift_fresh lift_fresh_copy linalg_det linalg_eig linalg_eigvals linalg_inv linalg_matrix_exp linalg_multi_dot
        linalg_slogdet log log10 log10_ log1p log1p_ log2 log2_ log_ log_sigmoid log_sigmoid_forward logdet
        logical_not matrix_exp mish mish_ msort neg neg_ negative negative_ nonzero nonzero_numpy positive
        q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point rad2deg rad2deg_ ravel
        real reciprocal reciprocal_ relu relu6 relu6_ relu_ resolve_conj resolve_neg row_indices_copy row_stack rsqrt
        rsqrt_ selu selu_ sgn sigmoid sigmoid_ sign signbit silu silu_ sin sin_ sinc sinc_ sinh sinh_ slogdet
        special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma
        special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1
        special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr
        special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
        special_ndtr special_ndtri special_psi special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
        special_sinc special_spherical_bessel_j0 sqrt sqrt_ square square_ t t_copy tan tan_ tanh tanh_ trace trunc
        trunc_ values_copy view_as_complex view_as_complex_copy view_as_real view_as_real_copy vstack zero zero_
    1-2 cat celu celu_ cholesky cholesky_inverse clone concat concatenate count_nonzero diag diagflat fft_fftshift
        fft_ifftshift gelu gelu_ glu hardshrink leaky_relu leaky_relu_ linalg_cholesky linalg_cond linalg_eigh
        linalg_eigvalsh linalg_inv_ex linalg_ldl_factor linalg_lu linalg_lu_factor linalg_qr linalg_svdvals
        linalg_tensorinv linalg_vander logit logit_ meshgrid one_hot pdist pinverse poisson qr round round_ softshrink
        special_logit special_round squeeze squeeze_copy stack to_mkldnn tril triu unbind unbind_copy
    1-3 all amax amin aminmax any argmax argmin bernoulli bincount clamp clamp_ clip clip_ combinations
        cumulative_trapezoid exponential fbgemm_pack_quantized_matrix flatten hardtanh hardtanh_ linalg_cholesky_ex
        linalg_ldl_factor_ex linalg_lu_factor_ex linalg_svd max median min mode nanmedian norm_except_dim nuclear_norm
        rot90 softplus svd sym_constrain_range sym_constrain_range_for_size trapezoid trapz vander where
    1-4 argsort cauchy cov diag_embed diagonal diagonal_copy elu elu_ fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2
        fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn
        fft_rfft fft_rfft2 fft_rfftn gradient hash_tensor histc linalg_diagonal linalg_matrix_rank linalg_pinv
        log_normal mean nan_to_num nan_to_num_ nanmean nansum normal_functional pad_sequence prod random
        repeat_interleave sort std std_mean sum uniform unique_consecutive var var_mean
    1-5 diff histogram linalg__powsum linalg_matrix_norm linalg_norm linalg_vector_norm native_norm norm ones rrelu
        rrelu_ scalar_tensor set slice slice_copy zeros
    1-6 bartlett_window blackman_window empty empty_like eye fft_fftfreq fft_rfftfreq hann_window
        mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight ones_like rand randn randperm zeros_like
    1-7 arange from_file kaiser_window rand_like randn_like
    1-8 hamming_window normal
    2 adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d arctan2 atan2 batch_norm_stats bitwise_and bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor broadcast_to can_cast channel_shuffle clamp_max clamp_max_ clamp_min
        clamp_min_ complex copysign cudnn_grid_sampler cummax cummin dot dsplit eq equal
        fake_quantize_per_channel_affine_cachemask_backward fake_quantize_per_tensor_affine_cachemask_backward fill
        fill_ flip float_power floor_divide fmax fmin fmod gcd gcd_ ge ger greater greater_equal gt
        hardsigmoid_backward hardswish_backward heaviside hsplit hspmm hypot igamma igammac index
        infinitely_differentiable_gelu_backward inner is_same_size kron lcm lcm_ ldexp ldexp_ le less less_equal
        linalg_householder_product linalg_matmul linalg_matrix_power logaddexp logaddexp2 logcumsumexp logical_and
        logical_or logical_xor lt masked_select matmul matrix_exp_backward matrix_power maximum minimum mish_backward
        mkldnn_adaptive_avg_pool2d mkldnn_adaptive_avg_pool2d_backward mul multiply mv mvlgamma native_channel_shuffle
        ne nextafter not_equal orgqr outer permute permute_copy pixel_shuffle pixel_unshuffle polar polygamma pow
        prelu promote_types reflection_pad1d reflection_pad2d reflection_pad3d remainder repeat replication_pad1d
        replication_pad2d replication_pad3d reshape resize_as_sparse resize_as_sparse_ result_type sigmoid_backward
        silu_backward smm sparse_mask special_chebyshev_polynomial_t special_chebyshev_polynomial_u
        special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_gammainc special_gammaincc
        special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
        special_legendre_polynomial_p special_multigammaln special_polygamma special_shifted_chebyshev_polynomial_t
        special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
        special_shifted_chebyshev_polynomial_w special_xlog1py special_xlogy special_zeta take tanh_backward tile
        to_mkldnn_backward trace_backward true_divide unflatten_dense_tensors unsqueeze unsqueeze_copy vdot view_copy
        vsplit xlogy xlogy_
    2-3 add binomial bmm cholesky_solve chunk constant_pad_nd copy copy_sparse_to_sparse copy_sparse_to_sparse_ cross
        cumprod cumsum dist div divide einsum expand_copy frobenius_norm gelu_backward geometric l1_loss linalg_cross
        linalg_solve linalg_tensorsolve linalg_vecdot linear log_softmax logit_backward logsumexp mkldnn_linear mm
        mse_loss multilabel_margin_loss nested_to_padded_tensor nonzero_static resize resize_as resize_as_ roll rsub
        soft_margin_loss softmax special_log_softmax special_logsumexp special_softmax split split_copy
        split_with_sizes split_with_sizes_copy sub subtract take_along_dim tensor_split to_dense_backward
        to_padded_tensor unsafe_chunk unsafe_split unsafe_split_with_sizes upsample_nearest1d
    2-4 binary_cross_entropy bucketize cdist cosine_similarity hinge_embedding_loss huber_loss isin kl_div kthvalue
        linalg_lstsq linalg_solve_ex lu_unpack multinomial pad rms_norm smooth_l1_loss unique_dim_consecutive
        upsample_nearest2d
    2-5 allclose binary_cross_entropy_with_logits diagonal_scatter embedding histogramdd isclose nanquantile nll_loss
        nll_loss2d nll_loss_nd pairwise_distance quantile topk triangular_solve unique_dim upsample_nearest3d
    2-6 avg_pool1d cross_entropy_loss empty_permuted empty_strided full group_norm layer_norm max_pool1d
        max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices
        mkldnn_max_pool2d mkldnn_max_pool3d multi_margin_loss new_empty new_ones new_zeros quantized_max_pool1d
        quantized_max_pool2d quantized_max_pool3d rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional
        searchsorted slice_inverse slice_scatter
    2-7 avg_pool2d avg_pool3d conv1d conv2d conv3d empty_quantized full_like range tril_indices triu_indices
    2-8 conv_transpose1d conv_transpose2d conv_transpose3d randint segment_reduce sparse_coo_tensor
    2-9 randint_like
    2-10 istft
    2-11 stft
    3 adaptive_max_pool2d_backward adaptive_max_pool3d_backward affine_grid_generator affine_grid_generator_backward
        alpha_dropout alpha_dropout_ cudnn_grid_sampler_backward dropout dropout_ feature_alpha_dropout
        feature_alpha_dropout_ feature_dropout feature_dropout_ glu_backward hardshrink_backward index_select lerp
        log_sigmoid_backward lu_solve masked_fill masked_scatter masked_scatter_backward masked_select_backward
        max_unpool2d mkldnn_linear_backward_input moveaxis movedim multilabel_margin_loss_forward native_dropout
        native_dropout_backward quantize_per_tensor_dynamic reflection_pad1d_backward reflection_pad2d_backward
        reflection_pad3d_backward replication_pad1d_backward replication_pad2d_backward replication_pad3d_backward
        select select_copy softshrink_backward swapaxes swapdims threshold threshold_ threshold_backward transpose
        transpose_copy unflatten
    3-4 addcdiv addcmul as_strided as_strided_ as_strided_copy bilinear conv_tbc fbgemm_linear_fp16_weight
        fbgemm_linear_fp16_weight_fp32_activation gather index_put index_put_ linalg_ldl_solve put upsample_linear1d
        upsample_nearest1d_backward
    3-5 addbmm addmv addmv_ addr binary_cross_entropy_backward cosine_embedding_loss linalg_lu_solve
        linalg_solve_triangular margin_ranking_loss ormqr sparse_sampled_addmm sspaddmm upsample_bicubic2d
        upsample_bilinear2d upsample_nearest2d_backward
    3-6 addmm baddbmm slow_conv3d thnn_conv2d upsample_nearest3d_backward upsample_trilinear3d
    3-7 linspace max_pool2d_backward new_empty_strided new_full slow_conv_dilated2d slow_conv_dilated3d
    3-8 logspace scaled_dot_product_attention slow_conv_transpose2d slow_conv_transpose3d triplet_margin_loss
    3-9 embedding_bag
    4 batch_norm_update_stats cummaxmin_backward cumprod_backward embedding_renorm embedding_renorm_
        fractional_max_pool2d fractional_max_pool3d glu_jvp hardtanh_backward index_copy index_fill
        index_select_backward leaky_relu_backward linear_backward matmul_backward mkldnn_linear_backward
        mkldnn_linear_backward_weights mse_loss_backward narrow narrow_copy quantize_per_tensor renorm scatter_add
        select_backward select_scatter soft_margin_loss_backward softplus_backward sparse_resize
        sparse_resize_and_clear tensordot unfold_copy
    4-5 as_strided_scatter index_add scatter upsample_linear1d_backward
    4-6 gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell upsample_bicubic2d_backward upsample_bilinear2d_backward
    4-7 ctc_loss upsample_trilinear3d_backward
    4-8 mkldnn_max_pool2d_backward mkldnn_max_pool3d_backward sparse_bsc_tensor sparse_bsr_tensor
        sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor
    5 choose_qparams_optimized conv_tbc_backward cudnn_affine_grid_generator cudnn_affine_grid_generator_backward
        diagonal_backward embedding_dense_backward embedding_sparse_backward fake_quantize_per_tensor_affine
        fake_quantize_per_tensor_affine_cachemask fractional_max_pool2d_backward fractional_max_pool3d_backward
        gather_backward grid_sampler grid_sampler_2d grid_sampler_3d huber_loss_backward im2col max_unpool3d
        multilabel_margin_loss_backward native_layer_norm nll_loss2d_forward nll_loss_forward quantize_per_channel
        smooth_l1_loss_backward unfold_backward value_selecting_reduction_backward
    5-6 index_reduce scatter_reduce
    5-7 multi_margin_loss_backward
    6 batch_norm_elemt col2im elu_backward embedding_backward fake_quantize_per_channel_affine
        fake_quantize_per_channel_affine_cachemask glu_backward_jvp poisson_nll_loss slice_backward
        slow_conv3d_forward
    7 conv_depthwise3d cudnn_convolution_relu fbgemm_linear_int8_weight fbgemm_linear_int8_weight_fp32_activation
        grid_sampler_2d_backward grid_sampler_3d_backward miopen_convolution_relu miopen_ctc_loss mkldnn_convolution
        nll_loss2d_backward nll_loss_backward rrelu_with_noise_backward
    8 avg_pool2d_backward avg_pool3d_backward batch_norm_backward_elemt batch_norm_backward_reduce
        batch_norm_gather_stats batch_norm_gather_stats_with_counts cudnn_batch_norm max_pool2d_with_indices_backward
        max_pool3d_with_indices_backward miopen_batch_norm miopen_batch_norm_backward mps_convolution_backward
        native_batch_norm native_group_norm native_layer_norm_backward quantized_batch_norm
    9 batch_norm convolution convolution_overrideable cudnn_batch_norm_backward cudnn_convolution
        cudnn_convolution_add_relu gru instance_norm lstm miopen_convolution miopen_convolution_add_relu
        miopen_depthwise_convolution mps_convolution_transpose_backward rnn_relu rnn_tanh
    10 convolution_backward_overrideable cudnn_convolution_transpose miopen_convolution_transpose
        native_batch_norm_backward native_group_norm_backward
    11 batch_norm_backward convolution_backward
    11-13 fused_moving_avg_obs_fake_quant
    14 miopen_rnn quantized_gru_cell quantized_lstm_cell quantized_rnn_relu_cell quantized_rnn_tanh_cell
    15 lstm_mps_backward
    16 mkldnn_rnn_layer
    21 miopen_rnn_backward
    23 mkldnn_rnn_layer_backward
    """.split()
# Tensor methods that are not functions of `at`. The tensor counts as an argument.
_METHODS = """
    1 absolute_ bitwise_not_ ccol_indices coalesce col_indices crow_indices dense_dim digamma_ erfinv_ indices
        is_coalesced item lgamma_ logical_not_ mH mT matrix_H numpy_T qscheme row_indices sgn_ sign_ sparse_dim t_
        tensor_data values variable_data
    1-2 chalf is_pinned pin_memory squeeze_ to_sparse_csc to_sparse_csr tril_ triu_
    1-3 bernoulli_ exponential_ to_dense
    1-4 cauchy_ log_normal_ normal_ random_ to_sparse uniform_
    1-5 backward set_
    1-8 to
    2 arctan2_ atan2_ bitwise_and_ bitwise_left_shift_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ copysign_ eq_
        expand_as float_power_ floor_divide_ fmod_ ge_ greater_ greater_equal_ gt_ heaviside_ hypot_ igamma_ igammac_
        is_set_to le_ less_ less_equal_ logical_and_ logical_or_ logical_xor_ lt_ mul_ multiply_ mvlgamma_ ne_
        nextafter_ not_equal_ polygamma_ pow_ record_stream remainder_ reshape_as sum_to_size true_divide_ type_as
        unsqueeze_ view view_as
    2-3 add_ copy_ cumprod_ cumsum_ div_ divide_ expand fill_diagonal_ geometric_ sub_ subtract_ to_sparse_bsc
        to_sparse_bsr
    3 lerp_ masked_fill_ masked_scatter_ swapaxes_ swapdims_ transpose_
    3-4 addcdiv_ addcmul_ put_
    3-5 addbmm_ addmm_ addr_ baddbmm_
    4 index_copy_ index_fill_ renorm_ scatter_add_ unfold
    4-5 index_add_ scatter_
    5-6 index_reduce_ scatter_reduce_
    """.split()
# Functions without a known argument count: those for sizes and devices that no schema declares, and
# those that PyTorch writes by hand, in `at` or as methods.
_UNCOUNTED = """
    adaptive_avg_pool3d_backward are_expandable conj device_of expand_inplace expand_outplace expand_size fmap
    for_blob from_blob get_device infer_dense_strides infer_size is_complex is_conj is_expandable_to is_floating_point
    is_inference is_neg is_signed numel size stride sum_to tensor
    """.split()
AT_FUNCTIONS = frozenset([name for name in _FUNCTIONS if not name[0].isdigit()]).union(_UNCOUNTED)
# Suffixes of an operator's name for variants of its function.
_VARIANTS = ("_symint", "_outf", "_out")


def in_at(name: str) -> bool:
    """Whether C++ may have a function or type with this name in the namespace `at`. Names with a
    leading underscore are internal to PyTorch and come and go, so any of them may exist.

    >>> in_at("sum_symint"), in_at("_unheard_of"), in_at("TensorList"), in_at("sigmoyd")
    (True, True, True, False)
    """
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    return name[0] == "_" or name[0].isupper() or name in AT_FUNCTIONS


def taken(name: str) -> tuple[int, int] | None:
    """The minimum and maximum argument counts of an `at` function, or None if they are unknown. A
    method's tensor counts as an argument.

    >>> taken("mul"), taken("sum_symint"), taken("expand"), taken("size")
    ((2, 2), (1, 4), (2, 3), None)
    """
    return _counts().get(name.removesuffix("_symint"))


@cache
def _counts() -> dict[str, tuple[int, int]]:
    counts, count = {}, (0, 0)
    for word in (*_FUNCTIONS, *_METHODS):
        if word[0].isdigit():
            fewest, _, most = word.partition("-")
            count = int(fewest), int(most or fewest)
        else:
            counts[word] = count
    return counts


# Functions of `at` without a separate header.
_PLAIN = frozenset("""
    are_expandable device_of expand_inplace expand_outplace expand_size flatten_dense_tensors fmap for_blob from_blob
    infer_dense_strides infer_size is_expandable_to normal_functional rrelu_with_noise_functional sum_to
    unflatten_dense_tensors
    """.split())
EVERYTHING = "ATen/ATen.h"


def at_header(name: str) -> str:
    """The header that declares an `at` function: its operator's, or the one with all functions.

    >>> at_header("sum_symint"), at_header("tanh_"), at_header("sum_to"), at_header("_softmax")
    ('ATen/ops/sum.h', 'ATen/ops/tanh.h', 'ATen/ATen.h', 'ATen/ATen.h')
    """
    for variant in _VARIANTS:
        name = name.removesuffix(variant)
    is_operator = name in AT_FUNCTIONS and name not in _PLAIN
    return f"ATen/ops/{name.removesuffix('_')}.h" if is_operator else EVERYTHING
